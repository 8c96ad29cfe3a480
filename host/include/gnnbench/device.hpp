#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gnnbench/event.hpp>
#include <gnnbench/matrix.hpp>
#include <gnnbench/trace.hpp>

/// A device's memory and streams: what a back end offers beside its verbs.

namespace gnnbench {

class Device;

/// Device memory. Move-only; freed on destruction. The device must outlive it.
class Buffer {
public:
    Buffer() = default;
    Buffer(Device& owner, void* data, std::size_t bytes) : owner_(&owner), data_(data), bytes_(bytes) {}
    Buffer(Buffer&& o) noexcept;
    Buffer& operator=(Buffer&& o) noexcept;
    ~Buffer();
    void* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    Device* owner_ = nullptr;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// A dense matrix in device memory that owns its buffer.
class Matrix {
public:
    Matrix() = default;
    Matrix(Buffer buffer, std::int64_t rows, std::int64_t cols, DType dtype)
        : buffer_(std::move(buffer)), view_{buffer_.data(), rows, cols, cols, dtype} {}
    MatrixView view() const { return view_; }
    operator MatrixView() const { return view_; }
    operator ConstMatrixView() const { return view_; }
    std::int64_t rows() const { return view_.rows; }
    std::int64_t cols() const { return view_.cols; }

private:
    Buffer buffer_;
    MatrixView view_;
};

/// An integer array in device memory (row indices, labels, original ids). T is plain data.
template <class T>
class Array {
public:
    Array() = default;
    Array(Buffer buffer, std::int64_t size) : buffer_(std::move(buffer)), size_(size) {}
    T* data() const { return static_cast<T*>(buffer_.data()); }
    std::int64_t size() const { return size_; }

private:
    Buffer buffer_;
    std::int64_t size_ = 0;
};

struct MemoryUse {
    std::int64_t current_bytes = 0, peak_bytes = 0;
    std::int64_t allocations = 0;  ///< calls of allocate since the device's construction
};

/// Memory and streams of one rank's device.
///
/// Ordering: operations on one stream run in order. Between streams only events order. A device that is the host may
/// complete every operation before it returns. All dense values have one dtype.
class Device {
public:
    explicit Device(DType dtype) : dtype_(dtype) {}
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device();

    DType dtype() const { return dtype_; }
    const MemoryUse& memory() const { return memory_; }
    /// Resets the peak to the memory allocated now.
    void reset_peak_memory() { memory_.peak_bytes = memory_.current_bytes; }

    // Memory. Contents are undefined until written. Throws OutOfMemory with the requested and the free bytes.
    Buffer allocate(std::size_t bytes);
    Matrix matrix(std::int64_t rows, std::int64_t cols);
    template <class T>
    Array<T> upload(std::span<const T> host);
    /// float32 or float64 host values become the device's dtype. Both contiguous, of to.rows × to.cols.
    void upload(std::span<const float> from, MatrixView to);
    void upload(std::span<const double> from, MatrixView to);
    /// Waits for `stream`'s work, then reads back in float64.
    HostMatrix download(ConstMatrixView from, StreamRole stream = StreamRole::compute);

    /// Copies raw bytes to allocated device memory.
    void upload_bytes(const void* from, void* to, std::size_t bytes);
    /// Waits for `stream`'s work, then copies raw device memory (scalars, counts) to the host.
    void download_bytes(const void* from, void* to, std::size_t bytes, StreamRole stream = StreamRole::compute);

    // Order.
    Event record(StreamRole stream);
    void wait(StreamRole stream, const Event& event);
    /// Waits for the first of `events` to complete and returns its index; where the device completes events by
    /// itself, the first in order. Skips every i with done[i]; at least one must not be done.
    std::size_t wait_any(StreamRole stream, std::span<const Event> events, const std::vector<bool>& done);
    /// From now on `waits` records what every `wait_any` returns, and `wait_any` returns the indices of `repeat`, in
    /// order, while there are any, instead of the first event to complete. Sums in order of arrival are then equal to
    /// the bit in two runs, which lets a verification compare them.
    void order_waits(std::vector<std::size_t> repeat);
    const std::vector<std::size_t>& waits() const { return waits_; }
    void synchronize(StreamRole stream);

protected:
    /// Device memory that the device allocated (negative: freed) for itself, in addition to allocate's buffers.
    void count_own_memory(std::int64_t bytes);

private:
    friend class Buffer;
    void release(void* data, std::size_t bytes) noexcept;

    virtual void* do_allocate(std::size_t bytes) = 0;  ///< nullptr: no memory left
    virtual void do_free(void* data, std::size_t bytes) noexcept = 0;
    virtual std::int64_t do_free_bytes() const = 0;  ///< for messages; −1 unknown
    virtual void do_copy_in(const void* host, void* device, std::size_t bytes) = 0;
    virtual void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) = 0;
    virtual Event do_record(StreamRole stream) = 0;
    virtual void do_wait(StreamRole stream, const Event& event) = 0;
    virtual void do_synchronize(StreamRole stream) = 0;

    DType dtype_;
    MemoryUse memory_;
    bool orders_waits_ = false;
    std::vector<std::size_t> waits_, waits_to_repeat_;
};

template <class T>
Array<T> Device::upload(std::span<const T> host) {
    Buffer b = allocate(host.size_bytes());
    if (!host.empty()) do_copy_in(host.data(), b.data(), host.size_bytes());
    return {std::move(b), static_cast<std::int64_t>(host.size())};
}

}  // namespace gnnbench
