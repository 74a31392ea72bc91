// Scores grouped by value: the distinct ones in increasing order, and the weight of the positive and of the
// negative rows of each. What every curve over thresholds is made of.
//
// Rows are dealt into buckets that fit a core's cache, by splitters drawn from a sample, the positive and the
// negative rows of a bucket apart, so that without weights the keys alone are moved. Each bucket is then
// sorted by digits. A value that the sample holds often gets a bucket to itself and needs no sorting.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel.h"

namespace surefit {

namespace score_detail {

template <class T>
using Key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

// Whole numbers in the order of the floating-point ones; both zeros are one.
template <class T>
Key<T> key_of(T score) {
  using K = Key<T>;
  constexpr K sign = K(1) << (8 * sizeof(K) - 1);
  const K bits = std::bit_cast<K>(score + T(0));
  return (bits & sign) != 0 ? static_cast<K>(~bits) : static_cast<K>(bits | sign);
}

template <class T>
T score_of(Key<T> key) {
  using K = Key<T>;
  constexpr K sign = K(1) << (8 * sizeof(K) - 1);
  return std::bit_cast<T>((key & sign) != 0 ? static_cast<K>(key & ~sign) : static_cast<K>(~key));
}

template <class K>
struct Counted {
  K key;
  static Counted made(K key, const double*, Index) { return {key}; }
  double weight() const { return 1.0; }
};

template <class K>
struct Weighed {
  K key;
  double amount;
  static Weighed made(K key, const double* weight, Index i) { return {key, weight[i]}; }
  double weight() const { return amount; }
};

inline constexpr Index splits = 512;        // a bucket of 1e7 rows then fits the second cache, twice
inline constexpr Index drawn = 16;          // sampled rows for each splitter
inline constexpr Index slots = 2 * splits;  // a power of two, with room for the values that come often
inline constexpr Index piece = 1 << 17;     // rows of a chunk
inline constexpr int digit = 11;            // bits sorted in one go

// Numbers that part the rows into buckets of about equal size; filled up with the largest key. The largest
// number itself is a score of no row, since it would be a NaN.
template <class T>
std::array<Key<T>, slots> splitters(const T* score, Index rows) {
  using K = Key<T>;
  std::array<K, slots> found;
  found.fill(std::numeric_limits<K>::max());
  if (rows < 2 * splits * drawn) return found;
  std::vector<K> sample;
  std::uint64_t state = 1;
  for (Index i = 0; i < splits * drawn; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;  // no pattern in the rows can meet it
    sample.push_back(key_of(score[static_cast<Index>((state >> 11) % static_cast<std::uint64_t>(rows))]));
  }
  std::sort(sample.begin(), sample.end());
  Index count = 0;
  for (Index i = drawn; i < splits * drawn; i += drawn) {
    const K key = sample[static_cast<std::size_t>(i)];
    if (count > 0 && found[static_cast<std::size_t>(count - 1)] >= key) continue;
    found[static_cast<std::size_t>(count++)] = key;
    const bool often = sample[static_cast<std::size_t>(i - drawn / 2)] == key ||
                       sample[static_cast<std::size_t>(i + drawn / 2 - 1)] == key;
    if (often && count < slots) found[static_cast<std::size_t>(count++)] = static_cast<K>(key + 1);
  }
  return found;
}

// For each of `count` keys, how many splitters are not above it. Eight searches go side by side and take no
// branch: a branch on a random key is mispredicted half of the time.
template <class T>
void buckets_of(const std::array<Key<T>, slots>& split, const T* score, Index count, std::uint16_t* bucket) {
  constexpr Index together = 8;
  for (Index i = 0; i < count; i += together) {
    const Index lanes = std::min(together, count - i);
    std::array<Key<T>, together> key{};
    std::array<std::uint32_t, together> at{};
    for (Index lane = 0; lane < lanes; ++lane) key[static_cast<std::size_t>(lane)] = key_of(score[i + lane]);
    for (std::uint32_t half = slots / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < together; ++lane)
        at[lane] += half & -static_cast<std::uint32_t>(split[at[lane] + half - 1] <= key[lane]);
    for (Index lane = 0; lane < lanes; ++lane)
      bucket[i + lane] = static_cast<std::uint16_t>(at[static_cast<std::size_t>(lane)]);
  }
}

// Sorts by the digits that differ; `spare` is as long. Returns where the sorted entries are.
template <class E>
E* sorted(E* entries, E* spare, Index count) {
  using K = decltype(E::key);
  if (count < 128) {
    std::stable_sort(entries, entries + count, [](const E& a, const E& b) { return a.key < b.key; });
    return entries;
  }
  K differing = 0;
  for (Index i = 1; i < count; ++i) differing |= static_cast<K>(entries[i].key ^ entries[0].key);
  constexpr K mask = (K(1) << digit) - 1;
  std::array<std::uint32_t, std::size_t{1} << digit> place;
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(K)); shift += digit) {
    if (((differing >> shift) & mask) == 0) continue;
    place.fill(0);
    for (Index i = 0; i < count; ++i) ++place[(entries[i].key >> shift) & mask];
    std::uint32_t sum = 0;
    for (std::uint32_t& entry : place) sum += std::exchange(entry, sum);
    for (Index i = 0; i < count; ++i) spare[place[(entries[i].key >> shift) & mask]++] = entries[i];
    std::swap(entries, spare);
  }
  return entries;
}

// Where the groups go: one number, and the weight of either class, for each distinct score.
template <class T>
struct Groups {
  T* score;
  double* positive;
  double* negative;
};

// Walks two sorted lists at once and writes one group for each key.
template <class T, class E>
Index write_groups(const E* low, Index lows, const E* high, Index highs, const Groups<T>& to, Index at) {
  const Index start = at;
  Index i = 0, j = 0;
  while (i < lows || j < highs) {
    const auto key = j == highs || (i < lows && low[i].key <= high[j].key) ? low[i].key : high[j].key;
    double negative = 0.0, positive = 0.0;
    for (; i < lows && low[i].key == key; ++i) negative += low[i].weight();
    for (; j < highs && high[j].key == key; ++j) positive += high[j].weight();
    to.score[at] = score_of<T>(key);
    to.positive[at] = positive;
    to.negative[at++] = negative;
  }
  return at - start;
}

template <class T, class E>
Index group(const Run& run, const T* score, const std::uint8_t* positive, const double* weight, Index rows,
            const Groups<T>& to) {
  const auto split = splitters(score, rows);
  const Index buckets = 2 * slots, chunks = (rows + piece - 1) / piece;
  std::vector<Index> place(static_cast<std::size_t>(chunks * buckets), 0);
  const auto home = std::make_unique_for_overwrite<std::uint16_t[]>(static_cast<std::size_t>(rows));
  for_chunks(run, chunks, [&](Index chunk, int) {
    Index* count = place.data() + chunk * buckets;
    const Index first = chunk * piece, end = std::min(rows, first + piece);
    buckets_of(split, score + first, end - first, home.get() + first);
    for (Index i = first; i < end; ++i) {
      std::uint16_t& bucket = home[static_cast<std::size_t>(i)];
      bucket = static_cast<std::uint16_t>(2 * bucket + (positive[i] != 0));
      ++count[bucket];
    }
  });
  std::vector<Index> start(static_cast<std::size_t>(buckets) + 1, 0);
  Index sum = 0, largest = 0;
  for (Index b = 0; b < buckets; ++b) {
    start[static_cast<std::size_t>(b)] = sum;
    for (Index chunk = 0; chunk < chunks; ++chunk)
      sum += std::exchange(place[static_cast<std::size_t>(chunk * buckets + b)], sum);
    largest = std::max(largest, sum - start[static_cast<std::size_t>(b)]);
  }
  start.back() = sum;
  const auto dealt = std::make_unique_for_overwrite<E[]>(static_cast<std::size_t>(rows));
  for_chunks(run, chunks, [&](Index chunk, int) {
    Index* at = place.data() + chunk * buckets;
    for (Index i = chunk * piece; i < std::min(rows, (chunk + 1) * piece); ++i)
      dealt[static_cast<std::size_t>(at[home[static_cast<std::size_t>(i)]]++)] =
          E::made(key_of(score[i]), weight, i);
  });
  std::vector<std::unique_ptr<E[]>> spare(static_cast<std::size_t>(run.threads));
  std::vector<Index> found(static_cast<std::size_t>(slots), 0);
  for_chunks(run, slots, [&](Index b, int worker) {
    auto& room = spare[static_cast<std::size_t>(worker)];
    if (!room) room = std::make_unique_for_overwrite<E[]>(static_cast<std::size_t>(2 * largest));
    const Index* from = start.data() + 2 * b;
    E* entries = dealt.get();
    const E* low = sorted(entries + from[0], room.get(), from[1] - from[0]);
    const E* high = sorted(entries + from[1], room.get() + largest, from[2] - from[1]);
    found[static_cast<std::size_t>(b)] =
        write_groups<T>(low, from[1] - from[0], high, from[2] - from[1], to, from[0]);
  });
  Index total = 0;
  for (Index b = 0; b < slots; ++b) {
    const Index from = start[static_cast<std::size_t>(2 * b)], count = found[static_cast<std::size_t>(b)];
    if (from != total && count > 0) {
      std::copy(to.score + from, to.score + from + count, to.score + total);
      std::copy(to.positive + from, to.positive + from + count, to.positive + total);
      std::copy(to.negative + from, to.negative + from + count, to.negative + total);
    }
    total += count;
  }
  return total;
}

}  // namespace score_detail

// Groups the finite scores of `rows` rows; weight may be null. Each output has room for one entry a row;
// returns how many groups there are. The same bits for any number of threads.
template <class T>
Index score_groups(const Run& run, const T* score, const std::uint8_t* positive, const double* weight,
                   Index rows, T* value, double* above, double* below) {
  using namespace score_detail;
  const Groups<T> to{value, above, below};
  return weight == nullptr ? group<T, Counted<Key<T>>>(run, score, positive, weight, rows, to)
                           : group<T, Weighed<Key<T>>>(run, score, positive, weight, rows, to);
}

// Areas over groups in increasing order of score: sum of negative x (positive above + half of those in the
// group), which is the number of pairs in the right order, and sum of positive x precision at the threshold.
struct Areas {
  double pairs = 0.0;
  double precision = 0.0;
};

inline Areas score_areas(const Run& run, const double* positive, const double* negative, Index groups) {
  constexpr Index size = 1 << 15;
  const Index chunks = (groups + size - 1) / size;
  std::vector<std::array<double, 2>> part(static_cast<std::size_t>(chunks));
  std::vector<Areas> areas(static_cast<std::size_t>(chunks));
  for_chunks(run, chunks, [&](Index chunk, int) {
    std::array<double, 2> sum{};
    for (Index i = chunk * size; i < std::min(groups, (chunk + 1) * size); ++i) {
      sum[0] += positive[i];
      sum[1] += negative[i];
    }
    part[static_cast<std::size_t>(chunk)] = sum;
  });
  std::array<double, 2> above{};
  for (Index chunk = chunks; chunk-- > 0;) {
    const std::array<double, 2> own = part[static_cast<std::size_t>(chunk)];
    part[static_cast<std::size_t>(chunk)] = above;
    above[0] += own[0];
    above[1] += own[1];
  }
  for_chunks(run, chunks, [&](Index chunk, int) {
    auto [hits, alarms] = part[static_cast<std::size_t>(chunk)];
    Areas area;
    for (Index i = std::min(groups, (chunk + 1) * size); i-- > chunk * size;) {
      area.pairs += negative[i] * (hits + 0.5 * positive[i]);
      hits += positive[i];
      alarms += negative[i];
      if (positive[i] > 0) area.precision += positive[i] * (hits / (hits + alarms));
    }
    areas[static_cast<std::size_t>(chunk)] = area;
  });
  Areas total;
  for (const Areas& area : areas) {
    total.pairs += area.pairs;
    total.precision += area.precision;
  }
  return total;
}

}  // namespace surefit
