// What a kernel is told about the machine for one call: threads, BLAS and how to ask whether to stop.
#pragma once

#include "blas.h"
#include "span.h"

namespace surefit {

// Thrown out of a kernel when the caller asked to stop (Ctrl-C); outputs are then undefined.
struct Cancelled {};

struct Run {
  int threads = 1;
  Blas blas;
  // Asked from the calling thread only, every few milliseconds; true means stop.
  bool (*cancel)() = nullptr;
};

}  // namespace surefit
