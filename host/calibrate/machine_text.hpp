#pragma once
#include <cstdint>
#include <string>

#include "calibrate/samples.hpp"

namespace gnnbench {

/// What is known of a machine without measuring.
struct MachineFacts {
    std::string name, processor, date;  ///< "mine", "AMD EPYC", "2026-11-23"
    int devices = 2;                    ///< of `threads` cores each
    int threads = 1;
    std::int64_t memory_bytes = 0;  ///< of the host
    std::int64_t cache_bytes = 0;   ///< the last level's
};

/// A machine file, which read_machine() accepts. `alone`: one rank's samples while the others' cores are idle;
/// `together`: of all devices at once, with operations of two. Each number names what measured it.
std::string machine_text(const MachineFacts& facts, const MachineSamples& alone, const MachineSamples& together);

}  // namespace gnnbench
