#pragma once
#include <cstddef>
#include <vector>

#include <gnnbench/usize.hpp>

#include "memory.hpp"

namespace gnnbench::cpu {

/// Scratch memory that persists between calls, so that no product pays for page faults. Not shared between kernels.
class Workspace {
public:
    explicit Workspace(int threads) : of_thread_(usize(threads)) {}
    /// At least `size` elements, contents undefined; from outside parallel regions.
    template <class T>
    T* shared(std::size_t size) {
        return grown<T>(shared_, size);
    }
    /// The same for one thread, from that thread.
    template <class T>
    T* of_thread(int thread, std::size_t size) {
        return grown<T>(of_thread_[usize(thread)], size);
    }

private:
    template <class T>
    static T* grown(HostArray<std::byte>& array, std::size_t size) {
        if (array.size() < size * sizeof(T)) {
            array = {};  // freed first, so that both never coexist
            array = HostArray<std::byte>(size * sizeof(T));
        }
        return reinterpret_cast<T*>(array.data());
    }

    HostArray<std::byte> shared_;
    std::vector<HostArray<std::byte>> of_thread_;
};

}  // namespace gnnbench::cpu
