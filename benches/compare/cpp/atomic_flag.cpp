#include <atomic>

#include "wakeup.hpp"

namespace {
struct Flag {
    std::atomic_flag flag{};
    void notify() {
        flag.test_and_set();
        flag.notify_one();
    }
    std::uint64_t wait() {
        flag.wait(false);
        flag.clear();
        return 1;
    }
};
}

WAKEUP(cpp_atomic_flag, Flag)
