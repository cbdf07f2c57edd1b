#include <condition_variable>
#include <mutex>

#include "wakeup.hpp"

namespace {
struct Condition {
    std::mutex mutex;
    std::condition_variable condition;
    std::uint64_t count = 0;
    void notify() {
        {
            std::lock_guard lock{mutex};
            ++count;
        }
        condition.notify_one();
    }
    std::uint64_t wait() {
        std::unique_lock lock{mutex};
        condition.wait(lock, [this] { return count > 0; });
        const auto taken = count;
        count = 0;
        return taken;
    }
};
}

WAKEUP(cpp_condition_variable, Condition)
