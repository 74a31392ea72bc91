#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.h"
#include "parallel.h"

using namespace surefit;

namespace {

Index sum_of_chunks(int threads, Index chunks) {
  Run run;
  run.threads = threads;
  std::vector<Index> seen(static_cast<std::size_t>(chunks), 0);
  for_chunks(run, chunks, [&](Index chunk, int worker) {
    CHECK(worker >= 0 && worker < threads);
    seen[static_cast<std::size_t>(chunk)] += 1;
  });
  Index total = 0;
  for (const Index count : seen) {
    CHECK(count == 1);
    total += count;
  }
  return total;
}

}  // namespace

TEST(every_chunk_once) {
  for (const int threads : {1, 2, 4})
    for (const Index chunks : {0, 1, 3, 1000}) CHECK(sum_of_chunks(threads, chunks) == chunks);
}

TEST(an_exception_comes_out_of_the_loop) {
  for (const int threads : {1, 4}) {
    Run run;
    run.threads = threads;
    bool caught = false;
    try {
      for_chunks(run, 100, [](Index chunk, int) {
        if (chunk == 17) throw std::runtime_error("seventeen");
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    CHECK(caught);
    CHECK(sum_of_chunks(threads, 50) == 50);
  }
}

TEST(cancel_stops_the_loop) {
  for (const int threads : {1, 2}) {
    Run run;
    run.threads = threads;
    run.cancel = [] { return true; };
    std::atomic<int> done{0};
    bool cancelled = false;
    try {
      for_chunks(run, 100000, [&](Index, int) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++done;
      });
    } catch (const Cancelled&) {
      cancelled = true;
    }
    CHECK(cancelled);
    CHECK(done < 1000);
  }
}

TEST(two_callers_at_once) {
  std::thread other([] {
    for (int i = 0; i < 50; ++i) CHECK(sum_of_chunks(3, 64) == 64);
  });
  for (int i = 0; i < 50; ++i) CHECK(sum_of_chunks(3, 64) == 64);
  other.join();
}

#if !defined(__SANITIZE_THREAD__)  // the thread sanitizer does not support threads in a forked child
TEST(a_forked_child_has_its_own_pool) {
  CHECK(sum_of_chunks(4, 100) == 100);
  const pid_t child = fork();
  if (child == 0) _exit(sum_of_chunks(4, 100) == 100 ? 0 : 1);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(sum_of_chunks(4, 100) == 100);
}
#endif
