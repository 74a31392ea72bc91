// Which instruction sets this CPU has.
#pragma once

namespace surefit {

// Whether the machine can run code compiled for x86-64-v3 (AVX2, FMA, BMI, F16C and their kin).
inline bool cpu_has_v3() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe");
#else
  return false;
#endif
}

}  // namespace surefit
