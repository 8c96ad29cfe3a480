#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/status.hpp"

namespace gnnbench {

/// A command line with placeholders. Each entry holds the words that stand together: an option and its value.
using WordsTemplate = std::vector<std::vector<std::string>>;

/// A program that is asked, and how its answer is read.
struct Inquiry {
    WordsTemplate run;
    std::string find;   ///< regular expression with named groups; every match counts
    std::string empty;  ///< matches an answer that lists nothing; empty: only an answer without text does
};

/// A launcher as its file declares it (docs/clusters.md): data alone, checked by spec/launcher_file.
struct LauncherDeclaration {
    /// Text in the log of `start` that says what happened to a trial.
    struct Sign {
        std::string find;    ///< regular expression, in one line
        std::string unless;  ///< the sign does not count where this is found, too
        TrialStatus means = TrialStatus::failed;
        std::string says;  ///< stands before the line in the reason
    };
    /// The trial waits for resources from the line with `from` to the one with `until`.
    struct Wait {
        std::string from, until;
    };
    struct Machine {
        std::string name;  ///< trials on machines of equal names are comparable
        int cores = 0;     ///< of one node; 0: is asked
        double memory_gib = 0;
        bool gpus = false;
        std::vector<Inquiry> ask;
        std::string partition_in;          ///< the variable that names the partition inside an allocation
        std::vector<std::string> options;  ///< that select nodes, so that they are part of the name
    };
    /// The value of {mpi}: the first of those for the linked MPI that the answer lists.
    struct MpiTypes {
        Inquiry ask;
        std::vector<std::string> open_mpi, mpich;
    };
    struct Start {
        WordsTemplate run, probe;
        std::map<std::string, std::string> environment;
        std::vector<Wait> waits;
        std::string prefix;  ///< what lines of the log begin with that reasons leave out
        std::string ended;   ///< groups `ranks` and `how`: which ranks ended, in the words of strsignal
        std::vector<Sign> signs;
    };
    struct Array {
        WordsTemplate options;
        std::string number;  ///< the variable with an element's number
        std::string log;     ///< stands for that number in the log's name
    };
    struct Jobs {
        Inquiry submit;
        std::string doubled;  ///< a character that the scheduler replaces in the log's name unless it is doubled
        std::optional<Array> array;
        double patience_s = 0;     ///< for which a job that no answer mentions may still be there
        std::vector<Inquiry> ask;  ///< the first lists current jobs, others also former ones
        std::map<std::string, std::vector<std::string>> states;  ///< meaning → the scheduler's words
        WordsTemplate cancel;
    };

    std::string name = "local", scheduler = "local";
    bool elsewhere = false;  ///< ranks run on other hosts
    std::string allocation;  ///< the variable that is set inside an allocation
    Machine machine;
    std::optional<MpiTypes> mpi;
    WordsTemplate options;  ///< how resources are requested: {options}
    std::vector<std::string> option_programs{
        ""};  ///< an experiment's option with one of these texts runs a program
    Start start{.run = {{"{mpiexec}"}, {"-n", "{ranks}"}, {"{worker}"}, {"{request}"}},
                .probe = {},
                .environment = {},
                .waits = {},
                .prefix = {},
                .ended = {},
                .signs = {}};
    std::optional<Jobs> jobs;  ///< without: the launcher starts every trial itself

    bool inside_allocation() const;
};

/// From the checked content of a launcher file; null: the launcher `local`.
LauncherDeclaration launcher_declaration(const nlohmann::json& content);

}  // namespace gnnbench
