#include "simulation/context.hpp"

#include <cstring>
#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <gnnbench/error.hpp>

// AddressSanitizer is told of each change of stacks, which it would take for an overflow.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace gnnbench::simulation {

/// A stack that ends in a page that nobody may touch.
class ContextStack {
public:
    explicit ContextStack(std::size_t bytes)
        : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), bytes_(bytes + page_) {
        memory_ =
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory_ == MAP_FAILED) throw OutOfMemory("the host has no memory left for a simulated rank's stack");
        mprotect(memory_, page_, PROT_NONE);
    }
    ContextStack(const ContextStack&) = delete;
    ContextStack& operator=(const ContextStack&) = delete;
    ~ContextStack() { munmap(memory_, bytes_); }
    void* low() const { return static_cast<char*>(memory_) + page_; }
    std::size_t bytes() const { return bytes_ - page_; }

private:
    std::size_t page_, bytes_;
    void* memory_ = nullptr;
};

/// What the C++ runtime keeps for each thread of exceptions in flight (Itanium C++ ABI, 2.2.2), for each context here.
struct ExceptionsInFlight {
    void* caught = nullptr;
    unsigned int uncaught = 0;
};

static void exchange_exceptions(ExceptionsInFlight& with) {
    auto* here = reinterpret_cast<ExceptionsInFlight*>(abi::__cxa_get_globals());
    std::swap(*here, with);
}

struct Context::State {
    State(std::function<void()> f, std::size_t bytes) : body(std::move(f)), stack(bytes) {}

    std::function<void()> body;
    ContextStack stack;
    ucontext_t inside{}, outside{};
    ExceptionsInFlight exceptions;  ///< of whichever side does not run
    bool returned = false;
    void* fake_inside = nullptr;
    void* fake_outside = nullptr;
    const void* outside_stack = nullptr;
    std::size_t outside_bytes = 0;

    static thread_local State* starting;  // makecontext passes ints alone
    static void enter() { starting->run(); }

    void run() {
        arrive_inside(nullptr);
        body();
        returned = true;
        leave_inside(true);
    }
    void arrive_inside([[maybe_unused]] void* fake) {
#ifdef __SANITIZE_ADDRESS__
        __sanitizer_finish_switch_fiber(fake, &outside_stack, &outside_bytes);
#endif
    }
    void leave_inside([[maybe_unused]] bool for_ever) {
#ifdef __SANITIZE_ADDRESS__
        __sanitizer_start_switch_fiber(for_ever ? nullptr : &fake_inside, outside_stack, outside_bytes);
#endif
        require(swapcontext(&inside, &outside) == 0, "swapcontext failed");
        arrive_inside(fake_inside);
    }
};

thread_local Context::State* Context::State::starting = nullptr;

Context::Context(std::function<void()> body, std::size_t stack_bytes)
    : state_(std::make_unique<State>(std::move(body), stack_bytes)) {
    require(getcontext(&state_->inside) == 0, "getcontext failed");
    state_->inside.uc_stack.ss_sp = state_->stack.low();
    state_->inside.uc_stack.ss_size = state_->stack.bytes();
    state_->inside.uc_link = nullptr;
    makecontext(&state_->inside, &State::enter, 0);
}

Context::~Context() = default;

void Context::resume() {
    State& s = *state_;
    require(!s.returned, "a context that has returned was resumed");
    State::starting = &s;
    exchange_exceptions(s.exceptions);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&s.fake_outside, s.stack.low(), s.stack.bytes());
#endif
    const int failed = swapcontext(&s.outside, &s.inside);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(s.fake_outside, nullptr, nullptr);
#endif
    exchange_exceptions(s.exceptions);
    require(failed == 0, "swapcontext failed");
}

void Context::suspend() { state_->leave_inside(false); }

bool Context::returned() const { return state_->returned; }

}  // namespace gnnbench::simulation
