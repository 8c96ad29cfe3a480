#include "check/forwarding_kernel.hpp"

#include <gnnbench/transport.hpp>

namespace gnnbench {

ForwardingKernel::ForwardingKernel(std::unique_ptr<Kernel> inner)
    : Kernel(inner->dtype()), inner_(std::move(inner)) {}
ForwardingKernel::~ForwardingKernel() = default;

void* ForwardingKernel::do_allocate(std::size_t bytes) {
    Buffer b = inner_->allocate(bytes);  // throws the inner kernel's error if memory runs out
    void* data = b.data();
    buffers_[data] = std::move(b);
    return data;
}

void ForwardingKernel::do_free(void* data, std::size_t) noexcept { buffers_.erase(data); }

void ForwardingKernel::do_apply(const Epilogue& e, ConstMatrixView x, MatrixView z) {
    if (x.data == z.data)
        inner_->apply(e, z);
    else
        inner_->dropout(e, x, z);
}

}  // namespace gnnbench
