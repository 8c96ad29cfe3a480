#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include <gnnbench/trace.hpp>

namespace gnnbench {

/// Prepares the next item on a thread of its own while the previous one trains. T: a batch, or a rank's share of one.
template <class T>
class PreparedAhead {
public:
    using Make = std::function<std::unique_ptr<T>(std::int64_t item)>;
    /// `make` is never called from two threads at once. `trace` must outlive it.
    PreparedAhead(Make make, Trace& trace) : make_(std::move(make)), trace_(trace) {}
    PreparedAhead(const PreparedAhead&) = delete;
    PreparedAhead& operator=(const PreparedAhead&) = delete;
    ~PreparedAhead() {
        if (thread_.joinable()) thread_.join();
    }

    /// The one of `item`, prepared before if it was expected. Time that the caller waits for it is phase `sampling`.
    std::unique_ptr<T> take(std::int64_t item) {
        ++taken_;
        const double begin_s = trace_.now_s();
        const bool foreseen = expected_ == item;
        std::unique_ptr<T> prepared = joined();
        if (foreseen)
            ++foreseen_;
        else
            prepared = make_(item);
        trace_.add({.phase = Phase::sampling, .operation = "batch", .begin_s = begin_s, .end_s = trace_.now_s()});
        return prepared;
    }
    /// Starts to prepare what is likely taken next. Another item may be taken instead, which then is prepared while the
    /// caller waits.
    void expect(std::int64_t item) {
        if (expected_ == item) return;
        joined();
        expected_ = item;
        thread_ = std::jthread([this, item] {
            try {
                prepared_ = make_(item);
            } catch (...) {
                error_ = std::current_exception();
            }
        });
    }

    std::int64_t taken() const { return taken_; }
    /// How many of those taken had been prepared ahead.
    std::int64_t foreseen() const { return foreseen_; }

private:
    std::unique_ptr<T> joined() {
        if (thread_.joinable()) thread_.join();
        expected_ = -1;
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
        return std::move(prepared_);
    }

    Make make_;
    Trace& trace_;
    std::jthread thread_;
    std::int64_t expected_ = -1;
    std::unique_ptr<T> prepared_;
    std::exception_ptr error_;
    std::int64_t taken_ = 0, foreseen_ = 0;
};

}  // namespace gnnbench
