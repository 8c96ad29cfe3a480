#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/matrix.hpp>

#include "check/ledger.hpp"

namespace gnnbench {

/// Memory used by started operations that have not been waited for yet: receive buffers must not be
/// touched, send buffers must not be written. A missing wait is found whether or not it did harm this time.
class InFlight {
public:
    explicit InFlight(std::shared_ptr<Ledger> ledger) : ledger_(std::move(ledger)) {}

    using Id = std::uint64_t;
    Id begin(std::string operation, const void* data, std::int64_t bytes, bool receives);
    void end(Id id);

    /// `verb` is about to read or write m.
    void check_access(const char* verb, ConstMatrixView m, bool writes);
    void check_access(const char* verb, const void* data, std::int64_t bytes, bool writes);

private:
    struct Range {
        Id id;
        std::string operation;
        const std::byte *first, *last;
        bool receives;
    };
    std::shared_ptr<Ledger> ledger_;
    std::vector<Range> ranges_;
    Id next_ = 1;
};

}  // namespace gnnbench
