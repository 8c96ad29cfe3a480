#pragma once
#include <cstddef>
#include <vector>

#include "memory.hpp"

namespace gnnbench::cpu {

/// Scratch memory that persists between calls, so that no product pays for page faults. Not shared between kernels.
class Workspace {
public:
    explicit Workspace(int threads) : of_thread_(static_cast<std::size_t>(threads)) {}
    /// At least `size` floats, contents undefined; from outside parallel regions.
    float* shared(std::size_t size) { return grown(shared_, size); }
    /// The same for one thread, from that thread.
    float* of_thread(int thread, std::size_t size) {
        return grown(of_thread_[static_cast<std::size_t>(thread)], size);
    }

private:
    static float* grown(HostArray<float>& array, std::size_t size) {
        if (array.size() < size) {
            array = {};  // freed first, so that both never coexist
            array = HostArray<float>(size);
        }
        return array.data();
    }

    HostArray<float> shared_;
    std::vector<HostArray<float>> of_thread_;
};

}  // namespace gnnbench::cpu
