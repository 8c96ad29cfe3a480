#include "protocol/fibre.hpp"

#include <ucontext.h>

#include <vector>

#include <gnnbench/error.hpp>

// AddressSanitizer is told of each change of stacks, which it would take for an overflow. ThreadSanitizer would have
// to be told too; there is nothing for it to see in one thread, and CMakeLists.txt leaves the simulation out of its
// preset.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace gnnbench::test {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;

}  // namespace

struct Fibre::Impl {
    std::function<void()> body;
    std::vector<std::byte> stack = std::vector<std::byte>(stack_bytes);
    ucontext_t inside{}, outside{};
    bool ended = false;
    void* fake_stack_inside = nullptr;
    void* fake_stack_outside = nullptr;
    const void* outside_stack = nullptr;
    std::size_t outside_bytes = 0;

    // makecontext passes ints alone.
    static thread_local Impl* starting;
    static void enter() { starting->run(); }

    void run() {
        arrive_inside(nullptr);
        body();
        ended = true;
        leave_inside(true);
    }

    void arrive_inside([[maybe_unused]] void* fake_stack) {
#ifdef __SANITIZE_ADDRESS__
        __sanitizer_finish_switch_fiber(fake_stack, &outside_stack, &outside_bytes);
#endif
    }

    void leave_inside([[maybe_unused]] bool for_ever) {
#ifdef __SANITIZE_ADDRESS__
        __sanitizer_start_switch_fiber(for_ever ? nullptr : &fake_stack_inside, outside_stack, outside_bytes);
#endif
        require(swapcontext(&inside, &outside) == 0, "swapcontext failed");
        arrive_inside(fake_stack_inside);
    }
};

thread_local Fibre::Impl* Fibre::Impl::starting = nullptr;

Fibre::Fibre(std::function<void()> body) : impl_(std::make_unique<Impl>()) {
    impl_->body = std::move(body);
    require(getcontext(&impl_->inside) == 0, "getcontext failed");
    impl_->inside.uc_stack.ss_sp = impl_->stack.data();
    impl_->inside.uc_stack.ss_size = impl_->stack.size();
    impl_->inside.uc_link = nullptr;
    makecontext(&impl_->inside, &Impl::enter, 0);
}

Fibre::~Fibre() = default;

void Fibre::resume() {
    require(!impl_->ended, "a fibre that has ended was resumed");
    Impl::starting = impl_.get();
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&impl_->fake_stack_outside, impl_->stack.data(), impl_->stack.size());
#endif
    require(swapcontext(&impl_->outside, &impl_->inside) == 0, "swapcontext failed");
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(impl_->fake_stack_outside, nullptr, nullptr);
#endif
}

void Fibre::yield() { impl_->leave_inside(false); }

bool Fibre::ended() const { return impl_->ended; }

}  // namespace gnnbench::test
