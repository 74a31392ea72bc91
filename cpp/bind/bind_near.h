// What the bindings of searches for near rows share: lists of unknown length become three arrays.
#pragma once

#include <memory>

#include "bind.h"
#include "near.h"

namespace surefit::bind {

template <class T>
nb::object owned_array(std::size_t size, T*& data) {
  data = new T[size];
  nb::capsule owner(data, [](void* held) noexcept { delete[] static_cast<T*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

// (start, index, value): what query i found lies at start[i] to start[i + 1].
inline nb::tuple arrays_of(const NearLists& lists, int threads) {
  std::int64_t *start = nullptr, *index = nullptr;
  double* value = nullptr;
  const auto found = static_cast<std::size_t>(lists.count());
  nb::object starts = owned_array(lists.places.size() + 1, start), indices = owned_array(found, index),
             values = owned_array(found, value);
  call(threads, [&](const Run& run) { lists.write(run, start, index, value); });
  return nb::make_tuple(starts, indices, values);
}

}  // namespace surefit::bind
