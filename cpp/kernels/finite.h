// Whether all numbers are finite, by their exponents, as fast as memory is read.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "parallel.h"

namespace surefit {

template <class T>
bool all_finite(const Run& run, const T* x, Index size) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr Bits exponent = sizeof(T) == 8 ? Bits(0x7ff0000000000000) : Bits(0x7f800000);
  constexpr Index piece = 1 << 16;
  std::atomic<bool> finite{true};
  Run quick = run;
  if (size < 200'000) quick.threads = 1;  // done before another thread wakes up
  for_chunks(quick, (size + piece - 1) / piece, [&](Index chunk, int) {
    if (!finite.load(std::memory_order_relaxed)) return;
    const Index end = std::min((chunk + 1) * piece, size);
    Bits bad = 0;
    for (Index i = chunk * piece; i < end; ++i)
      bad |= static_cast<Bits>((std::bit_cast<Bits>(x[i]) & exponent) == exponent);
    if (bad != 0) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load();
}

}  // namespace surefit
