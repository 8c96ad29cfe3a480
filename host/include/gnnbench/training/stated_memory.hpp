#pragma once
#include <cstdint>

namespace gnnbench {

/// Adds up what one rank's trainer holds on its device: dense matrices in elements, lists in items of their own size.
class MemoryStatement {
public:
    explicit MemoryStatement(std::int64_t element_bytes) : element_bytes_(element_bytes) {}

    void matrix(std::int64_t rows, std::int64_t columns) { bytes_ += rows * columns * element_bytes_; }
    /// `count` items of type T, whatever the back end's precision.
    template <class T>
    void list(std::int64_t count) {
        bytes_ += count * static_cast<std::int64_t>(sizeof(T));
    }
    std::int64_t bytes() const { return bytes_; }

private:
    std::int64_t element_bytes_, bytes_ = 0;
};

}  // namespace gnnbench
