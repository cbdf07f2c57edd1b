// What each file here exports, for Rust: an object made, notified, waited for and deleted through a pointer.
#pragma once
#include <cstdint>

#define WAKEUP(name, Type)                                                                        \
    extern "C" {                                                                                  \
    void* name##_new() { return new Type; }                                                       \
    void name##_delete(void* object) { delete static_cast<Type*>(object); }                       \
    void name##_notify(void* object) { static_cast<Type*>(object)->notify(); }                    \
    std::uint64_t name##_wait(void* object) { return static_cast<Type*>(object)->wait(); }        \
    }
