#include <semaphore>

#include "wakeup.hpp"

namespace {
struct Binary {
    std::binary_semaphore permit{0};
    void notify() { permit.release(); }
    std::uint64_t wait() {
        permit.acquire();
        return 1;
    }
};
}

WAKEUP(cpp_binary_semaphore, Binary)
