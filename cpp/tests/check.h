// A test program is a list of TEST(name) { ... } blocks; main() is here. CHECK counts and goes on; a failure
// names its line.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace surefit::test {

struct Case {
  const char* name;
  void (*body)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Add {
  Add(const char* name, void (*body)()) { cases().push_back({name, body}); }
};

inline void check(bool ok, const char* what, const char* file, int line) {
  if (ok) return;
  ++failures();
  std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
}

inline bool near(double a, double b, double tolerance) {
  return a == b || std::abs(a - b) <= tolerance * std::fmax(1.0, std::fmax(std::abs(a), std::abs(b)));
}

// Whether only the quick part is wanted: `make test` sets it, `make sanitize` does not.
inline bool fast() {
  const char* value = std::getenv("SUREFIT_TEST_FAST");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

// A small generator with the same numbers on every machine (splitmix64), uniform in [-1, 1).
class Random {
 public:
  explicit Random(unsigned long long seed) : state_(seed) {}
  unsigned long long bits() {
    unsigned long long z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-52 - 1.0; }

 private:
  unsigned long long state_;
};

}  // namespace surefit::test

#define TEST(name)                                          \
  static void name();                                       \
  static const surefit::test::Add add_##name(#name, &name); \
  static void name()
#define CHECK(condition) surefit::test::check(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance) \
  surefit::test::check(surefit::test::near((a), (b), (tolerance)), #a " near " #b, __FILE__, __LINE__)

int main() {
  for (const auto& test : surefit::test::cases()) {
    const int before = surefit::test::failures();
    test.body();
    if (surefit::test::failures() != before) std::fprintf(stderr, "  in %s\n", test.name);
  }
  return surefit::test::failures() == 0 ? 0 : 1;
}
