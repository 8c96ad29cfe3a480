#pragma once
#include <filesystem>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "spec/cell.hpp"
#include "spec/sources.hpp"

namespace gnnbench {

/// Digests of the built code that computes cells. See docs/decisions/code-of-a-verification.md for why the libraries
/// and not their sources.
class CodeDigests {
public:
    /// `plugins` must outlive it.
    explicit CodeDigests(const PluginSource& plugins);

    /// {"core", "kernel", "partitioner", "scheme", "worker"}: of each library or program the XXH3-128 of its content,
    /// 32 hex digits; of a program as scheme the digest of its files, as in its version. What is no file here (a
    /// command without files of its own, a worker that is missing) has none.
    nlohmann::json of(const Cell& cell);

private:
    std::string of_plugin(PluginKind kind, const PluginChoice& plugin);

    const PluginSource& plugins_;
    std::string core_, worker_;
    std::map<std::pair<PluginKind, std::string>, std::string> known_;  ///< by name
};

/// 32 hex digits; empty where there is no such file.
std::string content_digest(const std::filesystem::path& file);

}  // namespace gnnbench
