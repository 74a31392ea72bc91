// Random numbers that depend on a seed alone, so that no thread's luck decides.
#pragma once

#include "span.h"

namespace surefit {

inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

class NodeRandom {
 public:
  explicit NodeRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() { return mixed(state_++); }
  Index below(Index n) { return static_cast<Index>(bits() % static_cast<std::uint64_t>(n)); }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace surefit
