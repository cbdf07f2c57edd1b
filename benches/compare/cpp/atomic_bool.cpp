#include <atomic>

#include "wakeup.hpp"

namespace {
struct Bool {
    std::atomic<bool> flag{false};
    void notify() {
        flag.store(true);
        flag.notify_one();
    }
    std::uint64_t wait() {
        flag.wait(false);
        flag.store(false);
        return 1;
    }
};
}

WAKEUP(cpp_atomic_bool, Bool)
