// Scratch memory for kernels: doubles, zeroed, aligned to a cache line, never resized in place.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "span.h"

namespace surefit {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Index size) : size_(size) {
    constexpr std::size_t line = 64;
    const std::size_t bytes = (static_cast<std::size_t>(size) * sizeof(double) + line - 1) / line * line;
    if (bytes == 0) return;
    data_.reset(static_cast<double*>(std::aligned_alloc(line, bytes)));
    if (!data_) throw std::bad_alloc();
    std::fill_n(data_.get(), size, 0.0);
  }

  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  double& operator[](Index i) { return data_.get()[i]; }
  double operator[](Index i) const { return data_.get()[i]; }
  Index size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Free {
    void operator()(double* data) const { std::free(data); }
  };
  std::unique_ptr<double, Free> data_;
  Index size_ = 0;
};

}  // namespace surefit
