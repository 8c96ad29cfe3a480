#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace gnnbench::cpu {

/// Memory aligned to a cache line; from 4 MiB on aligned to huge pages and advised to use them, since gathers of
/// random rows otherwise spend their time in page walks. nullptr if there is none left.
void* allocate_host(std::size_t bytes) noexcept;
void free_host(void* data) noexcept;
/// The machine's available memory; −1 if unknown.
std::int64_t free_host_bytes();

/// An owned array of plain data, uninitialised, from allocate_host. Throws OutOfMemory.
template <class T>
class HostArray {
public:
    HostArray() = default;
    explicit HostArray(std::size_t size);
    T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }
    T& operator[](std::size_t i) const { return data_.get()[i]; }

private:
    static_assert(std::is_trivially_copyable_v<T>);
    struct Free {
        void operator()(T* p) const noexcept { free_host(p); }
    };
    std::unique_ptr<T[], Free> data_;
    std::size_t size_ = 0;
};

/// Throws OutOfMemory instead of returning nullptr.
void* allocate_host_or_throw(std::size_t bytes);

template <class T>
HostArray<T>::HostArray(std::size_t size)
    : data_(static_cast<T*>(size ? allocate_host_or_throw(size * sizeof(T)) : nullptr)), size_(size) {}

}  // namespace gnnbench::cpu
