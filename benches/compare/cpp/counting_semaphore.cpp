#include <semaphore>

#include "wakeup.hpp"

namespace {
struct Counting {
    std::counting_semaphore<> permits{0};
    void notify() { permits.release(); }
    std::uint64_t wait() {
        permits.acquire();
        return 1;
    }
};
}

WAKEUP(cpp_counting_semaphore, Counting)
