#pragma once
#include <cstdint>
#include <string>

#include "cli/options.hpp"
#include "record/compare.hpp"
#include "run/interleaved_run.hpp"

namespace gnnbench {

/// The options of `compare` and `gate` that measure both sides by turns.
struct Interleaving {
    InterleavedRequest request;
    std::vector<std::string> overrides;  ///< of both sides
    bool no_verify = false, allow_programs = false;
    bool wanted() const { return !request.a.experiment.file.empty(); }
};

void add_interleaving_options(CLI::App& command, Interleaving& interleaving);

/// Runs it; the sides' trials are tagged `a` and `b`. False if it was interrupted.
bool measure_by_turns(const Interleaving& interleaving, const std::string& a, const std::string& b,
                      const std::string& where, const GlobalOptions& options);

/// The command that measures these sides by turns and then compares them as `command` ("compare", "gate") does, with
/// a sentence before it. It ends with a line break.
std::string how_to_interleave(const ComparedSides& sides, const std::string& command, const std::string& where,
                              const GlobalOptions& options);

}  // namespace gnnbench
