// The last iterates of a descent and what hangs on them linearly (a gradient, a residual): memory for
// Anderson acceleration.
#pragma once

#include "anderson.h"
#include "buffer.h"
#include "columns.h"

namespace surefit {

class Iterates {
 public:
  // size coefficients, of which steps are measured with `scale`, and `beside` numbers that follow linearly.
  Iterates(Index size, Index beside, const double* scale)
      : size_(size),
        beside_(beside),
        scale_(scale),
        kept_((remembered + 1) * (size + beside)),
        steps_(remembered * size) {}

  void forget() { count_ = 0; }
  bool full() const { return count_ == remembered + 1; }

  void keep(const double* w, const double* along) {
    if (full()) count_ = 0;
    std::copy_n(w, size_, row(count_));
    std::copy_n(along, beside_, row(count_) + size_);
    ++count_;
  }

  // Writes the combination of what was kept; false when there is none.
  bool combine(double* w, double* along) {
    std::array<double, remembered * remembered> products{};
    for (Index k = 0; k < remembered; ++k)
      for (Index j = 0; j < size_; ++j) steps_[k * size_ + j] = scale_[j] * (row(k + 1)[j] - row(k)[j]);
    for (Index a = 0; a < remembered; ++a)
      for (Index b = 0; b <= a; ++b)
        products[static_cast<std::size_t>(a * remembered + b)] =
            products[static_cast<std::size_t>(b * remembered + a)] =
                plain_dot(steps_.data() + a * size_, steps_.data() + b * size_, size_);
    Combination share;
    if (!anderson(products, share)) return false;
    // Taken about the last iterate, so that what did not move stays where it is to the bit.
    const double* last = row(remembered);
    std::copy_n(last, size_, w);
    std::copy_n(last + size_, beside_, along);
    for (Index k = 0; k + 1 < remembered; ++k) {
      const double c = share[static_cast<std::size_t>(k)];
      const double* there = row(k + 1);
      for (Index j = 0; j < size_; ++j) w[j] += c * (there[j] - last[j]);
      for (Index j = 0; j < beside_; ++j) along[j] += c * (there[size_ + j] - last[size_ + j]);
    }
    return true;
  }

 private:
  double* row(Index k) { return kept_.data() + k * (size_ + beside_); }

  Index size_, beside_, count_ = 0;
  const double* scale_;
  Buffer kept_, steps_;
};

}  // namespace surefit
