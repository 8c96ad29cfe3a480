#include <gnnbench/device.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

Device::~Device() = default;

Buffer::Buffer(Buffer&& o) noexcept
    : owner_(std::exchange(o.owner_, nullptr)),
      data_(std::exchange(o.data_, nullptr)),
      bytes_(std::exchange(o.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& o) noexcept {
    std::swap(owner_, o.owner_);
    std::swap(data_, o.data_);
    std::swap(bytes_, o.bytes_);
    return *this;
}

Buffer::~Buffer() {
    if (owner_) owner_->release(data_, bytes_);
}

Buffer Device::allocate(std::size_t bytes) {
    void* data = bytes == 0 ? nullptr : do_allocate(bytes);
    if (bytes > 0 && !data) {
        const std::int64_t free = do_free_bytes();
        throw OutOfMemory(fmt::format("the device has no memory for {} bytes: {} in use{}", bytes,
                                      memory_.current_bytes, free >= 0 ? fmt::format(", {} free", free) : ""));
    }
    ++memory_.allocations;
    memory_.current_bytes += static_cast<std::int64_t>(bytes);
    memory_.peak_bytes = std::max(memory_.peak_bytes, memory_.current_bytes);
    return {*this, data, bytes};
}

void Device::release(void* data, std::size_t bytes) noexcept {
    if (data) do_free(data, bytes);
    memory_.current_bytes -= static_cast<std::int64_t>(bytes);
}

void Device::count_own_memory(std::int64_t bytes) {
    memory_.current_bytes += bytes;
    memory_.peak_bytes = std::max(memory_.peak_bytes, memory_.current_bytes);
}

Matrix Device::matrix(std::int64_t rows, std::int64_t cols) {
    return {allocate(usize(rows * cols) * size_of(dtype_)), rows, cols, dtype_};
}

namespace {
/// Calls `copy` with the values of `from` in the device's type, converting only if necessary.
template <class From>
void with_dtype(std::span<const From> from, DType to, auto&& copy) {
    const bool same = (to == DType::f32) == std::is_same_v<From, float>;
    if (same) return copy(from.data(), from.size_bytes());
    using Other = std::conditional_t<std::is_same_v<From, float>, double, float>;
    const std::vector<Other> converted(from.begin(), from.end());
    copy(converted.data(), converted.size() * sizeof(Other));
}
}  // namespace

void Device::upload(std::span<const float> from, MatrixView to) {
    require(to.contiguous() && static_cast<std::int64_t>(from.size()) == to.rows * to.cols,
            "upload: sizes differ");
    if (!from.empty())
        with_dtype(from, dtype_, [&](const void* p, std::size_t bytes) { do_copy_in(p, to.data, bytes); });
}

void Device::upload(std::span<const double> from, MatrixView to) {
    require(to.contiguous() && static_cast<std::int64_t>(from.size()) == to.rows * to.cols,
            "upload: sizes differ");
    if (!from.empty())
        with_dtype(from, dtype_, [&](const void* p, std::size_t bytes) { do_copy_in(p, to.data, bytes); });
}

HostMatrix Device::download(ConstMatrixView from, StreamRole stream) {
    require(from.contiguous(), "download: the matrix must be contiguous");
    HostMatrix out(from.rows, from.cols);
    if (from.empty()) return out;
    if (dtype_ == DType::f64) {
        do_copy_out(from.data, out.values.data(), from.bytes(), stream);
    } else {
        std::vector<float> narrow(out.values.size());
        do_copy_out(from.data, narrow.data(), from.bytes(), stream);
        std::copy(narrow.begin(), narrow.end(), out.values.begin());
    }
    return out;
}

void Device::upload_bytes(const void* from, void* to, std::size_t bytes) {
    if (bytes > 0) do_copy_in(from, to, bytes);
}

void Device::download_bytes(const void* from, void* to, std::size_t bytes, StreamRole stream) {
    if (bytes > 0) do_copy_out(from, to, bytes, stream);
}

Event Device::record(StreamRole stream) { return do_record(stream); }
void Device::wait(StreamRole stream, const Event& event) {
    if (!event.happened_at_once()) do_wait(stream, event);
}
std::size_t Device::wait_any(StreamRole stream, std::span<const Event> events, const std::vector<bool>& done) {
    require(events.size() == done.size(), "wait_any: one mark per event");
    const auto first = usize(std::find(done.begin(), done.end(), false) - done.begin());
    require(first < events.size(), "wait_any: every event is already done");
    std::size_t i = first;
    const std::size_t before = waits_.size();
    if (before < waits_to_repeat_.size() && waits_to_repeat_[before] < done.size() &&
        !done[waits_to_repeat_[before]]) {
        i = waits_to_repeat_[before];
    } else if (const Event& e = events[first]; !e.happened_at_once() && e.state()->completed_by_host()) {
        for (; done[i] || !events[i].ready();) i = i + 1 == events.size() ? first : i + 1;
    }
    wait(stream, events[i]);
    if (orders_waits_) waits_.push_back(i);
    return i;
}
void Device::order_waits(std::vector<std::size_t> repeat) {
    orders_waits_ = true;
    waits_to_repeat_ = std::move(repeat);
    waits_.clear();
}
void Device::synchronize(StreamRole stream) { do_synchronize(stream); }

}  // namespace gnnbench
