// The losses that per-sample methods know by number: value and slope of f(y, z). Classes are y = -1 and 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace surefit {

struct ValueAndSlope {
  double value;
  double slope;
};

// Both at once; losses that share work between them say so by a method of their own.
template <class Loss>
ValueAndSlope both(const Loss& loss, double y, double z) {
  if constexpr (requires { loss.both(y, z); })
    return loss.both(y, z);
  else
    return {loss.value(y, z), loss.slope(y, z)};
}

struct SquaredLoss {
  double value(double y, double z) const { return 0.5 * (z - y) * (z - y); }
  double slope(double y, double z) const { return z - y; }
};

struct LogisticLoss {
  ValueAndSlope both(double y, double z) const {
    const double m = y * z, e = std::exp(-std::fabs(m));
    return {std::log1p(e) + std::max(-m, 0.0), -y * (m > 0 ? e : 1.0) / (1.0 + e)};
  }
  double slope(double y, double z) const {
    const double m = y * z, e = std::exp(-std::fabs(m));
    return -y * (m > 0 ? e : 1.0) / (1.0 + e);
  }
};

// (threshold - m)+ of the margin m = y z: the hinge for 1, the perceptron's loss for 0. At the kink the slope
// is that of the wrong side, so that a model of zeros starts to learn.
struct HingeLoss {
  double threshold;
  double value(double y, double z) const { return std::max(threshold - y * z, 0.0); }
  double slope(double y, double z) const { return y * z <= threshold ? -y : 0.0; }
};

struct SquaredHingeLoss {
  double value(double y, double z) const {
    const double short_of = std::max(1.0 - y * z, 0.0);
    return short_of * short_of;
  }
  double slope(double y, double z) const { return -2.0 * y * std::max(1.0 - y * z, 0.0); }
};

struct ModifiedHuberLoss {
  double value(double y, double z) const {
    const double m = y * z;
    if (m < -1.0) return -4.0 * m;
    return m < 1.0 ? (1.0 - m) * (1.0 - m) : 0.0;
  }
  double slope(double y, double z) const {
    const double m = y * z;
    if (m < -1.0) return -4.0 * y;
    return m < 1.0 ? -2.0 * y * (1.0 - m) : 0.0;
  }
};

struct HuberLoss {
  double threshold;
  double value(double y, double z) const {
    const double r = std::fabs(z - y);
    return r <= threshold ? 0.5 * r * r : threshold * (r - 0.5 * threshold);
  }
  double slope(double y, double z) const { return std::clamp(z - y, -threshold, threshold); }
};

struct EpsilonInsensitiveLoss {
  double epsilon;
  double value(double y, double z) const { return std::max(std::fabs(z - y) - epsilon, 0.0); }
  double slope(double y, double z) const { return z - y > epsilon ? 1.0 : y - z > epsilon ? -1.0 : 0.0; }
};

struct SquaredEpsilonInsensitiveLoss {
  double epsilon;
  double value(double y, double z) const {
    const double beyond = std::max(std::fabs(z - y) - epsilon, 0.0);
    return beyond * beyond;
  }
  double slope(double y, double z) const {
    const double r = z - y;
    return r > epsilon ? 2.0 * (r - epsilon) : r < -epsilon ? 2.0 * (r + epsilon) : 0.0;
  }
};

// Half the deviance of counts, with the logarithm as its link.
struct PoissonLoss {
  ValueAndSlope both(double y, double z) const {
    const double mean = std::exp(z);
    return {mean - y * z, mean - y};
  }
  double slope(double y, double z) const { return std::exp(z) - y; }
};

// Calls f with the loss of that number; core/native/linear/row_loss.py has the same list.
template <class F>
auto with_row_loss(int kind, double parameter, F&& f) {
  switch (kind) {
    case 0:
      return f(SquaredLoss{});
    case 1:
      return f(LogisticLoss{});
    case 2:
      return f(HingeLoss{1.0});
    case 3:
      return f(HingeLoss{0.0});
    case 4:
      return f(SquaredHingeLoss{});
    case 5:
      return f(ModifiedHuberLoss{});
    case 6:
      return f(HuberLoss{parameter});
    case 7:
      return f(EpsilonInsensitiveLoss{parameter});
    case 8:
      return f(SquaredEpsilonInsensitiveLoss{parameter});
    case 9:
      return f(PoissonLoss{});
    default:
      throw std::invalid_argument("there is no loss of that number.");
  }
}

}  // namespace surefit
