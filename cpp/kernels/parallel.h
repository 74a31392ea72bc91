// The thread pool, and the one loop that kernels use it through.
//
// Work is cut into chunks by the shape of the data alone. Threads take chunks in any order, so a kernel that
// writes each chunk's result to the chunk's own place, and merges them in chunk order afterwards, gives the
// same bits for any number of threads.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "run.h"

namespace surefit {

// Tells the processor that this is a loop that waits.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Asks `over` again and again for a while: going to sleep and being woken takes longer than most kernels stay
// between two loops. Returns whether it became true.
template <class Over>
bool waited_briefly(const Over& over) {
  constexpr auto kLongest = std::chrono::microseconds(60);
  const auto end = std::chrono::steady_clock::now() + kLongest;
  do {
    for (int i = 0; i < 16; ++i) {
      if (over()) return true;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < end);
  return over();
}

class Pool {
 public:
  // The process's pool. A forked child gets a fresh one: the parent's threads do not exist there, and its
  // mutex may be held by one of them, so the old object is abandoned, never destroyed.
  static Pool& shared() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] { current().store(nullptr); });
    (void)registered;
    Pool* pool = current().load(std::memory_order_acquire);
    if (pool == nullptr) {
      Pool* fresh = new Pool;
      if (current().compare_exchange_strong(pool, fresh)) return *fresh;
      delete fresh;
    }
    return *pool;
  }

  // Calls work(worker) on the calling thread as worker 0 and on up to threads - 1 others, and waits for all.
  // When the pool is busy with another caller, the calling thread does everything itself: the sum of threads
  // stays bounded.
  void run(int threads, const std::function<void(int)>& work) {
    std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
    if (threads <= 1 || !turn.owns_lock()) {
      work(0);
      return;
    }
    const std::uint64_t now = call_.load();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      while (static_cast<int>(workers_.size()) < threads - 1) {
        const int id = static_cast<int>(workers_.size()) + 1;
        workers_.emplace_back([this, id, now] { serve(id, now); });
      }
    }
    work_ = &work;
    running_ = threads - 1;
    call_ = (now / kWorkers + 1) * kWorkers + static_cast<std::uint64_t>(threads - 1);
    if (sleeping_ > 0) wake(start_);
    work(0);
    const auto all_done = [this] { return running_ == 0; };
    if (waited_briefly(all_done)) return;
    std::unique_lock<std::mutex> lock(mutex_);
    waits_ = true;
    done_.wait(lock, all_done);
    waits_ = false;
  }

  // How many threads the pool holds beside its callers.
  int size() {
    std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int>(workers_.size());
  }

 private:
  static constexpr std::uint64_t kWorkers = 1 << 16;  // more than any machine has

  static std::atomic<Pool*>& current() {
    static std::atomic<Pool*> pool{nullptr};
    return pool;
  }

  // A sleeper says so before it looks for the last time, and who changes what it looks at asks for sleepers
  // afterwards; so either sees the other.
  void wake(std::condition_variable& sleepers) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
    }
    sleepers.notify_all();
  }

  void serve(int id, std::uint64_t seen) {
    const auto called = [&] { return call_ != seen; };
    bool served = true;
    for (;;) {
      if (!served || !waited_briefly(called)) {
        std::unique_lock<std::mutex> lock(mutex_);
        ++sleeping_;
        start_.wait(lock, called);
        --sleeping_;
      }
      seen = call_;
      served = static_cast<std::uint64_t>(id) <= seen % kWorkers;
      if (!served) continue;
      (*work_)(id);
      if (--running_ == 0 && waits_) wake(done_);
    }
  }

  std::mutex turn_;  // held by the caller whose work the pool is doing
  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::vector<std::thread> workers_;
  const std::function<void(int)>* work_ = nullptr;  // changed only while no worker that was called runs
  std::atomic<std::uint64_t> call_{0};  // the number of the call, times kWorkers, plus its workers
  std::atomic<int> running_{0}, sleeping_{0};
  std::atomic<bool> waits_{false};
};

// Asks run.cancel, at most every five milliseconds, and throws Cancelled when the answer is to stop. Only the
// thread that called the kernel may ask.
class Poll {
 public:
  explicit Poll(const Run& run) : run_(run) {}
  void operator()() {
    if (run_.cancel == nullptr || Clock::now() - asked_ <= std::chrono::milliseconds(5)) return;
    if (run_.cancel()) throw Cancelled{};
    asked_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Run& run_;
  Clock::time_point asked_ = Clock::now();
};

// Calls body(chunk, worker) once for each chunk in [0, chunks), worker in [0, run.threads). The first
// exception stops the loop and is rethrown here. The calling thread polls between its chunks, so a chunk
// should be some milliseconds of work at the most; a kernel that makes many short loops polls between them as
// well.
template <class Body>
void for_chunks(const Run& run, Index chunks, const Body& body) {
  if (chunks <= 0) return;
  std::atomic<Index> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr error;
  std::mutex error_mutex;

  auto work = [&](int worker) {
    Poll poll(run);
    try {
      for (;;) {
        if (stop.load(std::memory_order_relaxed)) return;
        const Index chunk = next.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= chunks) return;
        body(chunk, worker);
        if (worker == 0) poll();
      }
    } catch (...) {
      stop.store(true, std::memory_order_relaxed);
      std::lock_guard<std::mutex> lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  };

  const int threads = static_cast<int>(std::min<Index>(run.threads, chunks));
  if (threads <= 1) {
    work(0);
  } else {
    Pool::shared().run(threads, work);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace surefit
