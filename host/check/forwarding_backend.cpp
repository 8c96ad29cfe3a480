#include "check/forwarding_backend.hpp"

#include <gnnbench/transport.hpp>

namespace gnnbench {

ForwardingBackend::ForwardingBackend(std::unique_ptr<Backend> inner)
    : Backend(inner->dtype()), owned_(std::move(inner)), inner_(*owned_) {}
ForwardingBackend::ForwardingBackend(Backend& inner) : Backend(inner.dtype()), inner_(inner) {}
ForwardingBackend::~ForwardingBackend() = default;

void* ForwardingBackend::do_allocate(std::size_t bytes) {
    Buffer b = inner_.allocate(bytes);  // throws the inner back end's error if memory runs out
    void* data = b.data();
    buffers_[data] = std::move(b);
    return data;
}

void ForwardingBackend::do_free(void* data, std::size_t) noexcept { buffers_.erase(data); }

}  // namespace gnnbench
