#pragma once
#include <cstdint>

#include <gnnbench/trace.hpp>

namespace gnnbench {

/// Times what the host does between a rank's verbs, by the host's clock, from construction to destruction.
class HostSpan {
public:
    HostSpan(Trace& trace, Phase phase, const char* operation, std::int64_t bytes = 0, std::int32_t group_size = 0)
        : trace_(trace),
          span_{.phase = phase,
                .stream = StreamRole::compute,
                .operation = operation,
                .begin_s = trace.now_s(),
                .end_s = 0,
                .bytes = bytes,
                .group_size = group_size} {}
    HostSpan(const HostSpan&) = delete;
    HostSpan& operator=(const HostSpan&) = delete;
    ~HostSpan() {
        span_.end_s = trace_.now_s();
        trace_.add(span_);
    }

private:
    Trace& trace_;
    Span span_;
};

}  // namespace gnnbench
