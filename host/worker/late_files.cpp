#include "worker/late_files.hpp"

#include <chrono>
#include <exception>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "record/journal.hpp"
#include "worker/hosts.hpp"

namespace gnnbench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_looks{200};

/// A rank's word on the dataset: "=" and its digest, or why it cannot open it.
constexpr char seen = '=';

}  // namespace

std::optional<TrialRequest> own_request(const std::string& path) {
    try {
        return read_request(path);
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

TrialRequest shared_request(const std::string& path, const ProcessGroup& world) {
    std::string text;
    const auto deadline = Clock::now() + std::chrono::duration<double>(host_limit_s(world.size()));
    while (world.rank() == 0) {
        try {
            text = request_text(path);
            break;
        } catch (const EnvironmentError& e) {
            // A single rank was started where the file is.
            if (world.size() == 1) throw;
            if (Clock::now() > deadline)
                throw EnvironmentError(
                    fmt::format("{} on host {}, which runs rank 0; all hosts of a trial need the database's "
                                "folder under the same path",
                                e.what(), host_name()));
        }
        std::this_thread::sleep_for(between_looks);
    }
    return request_from_text(world.all_gather(text)[0], path);
}

Store open_on_all(const std::string& folder, const ProcessGroup& group, double limit_s) {
    const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
    for (std::optional<Store> store;; std::this_thread::sleep_for(between_looks)) {
        std::string mine;
        try {
            if (!store) store = Store::open(folder);
            mine = seen + store->manifest().digest;
        } catch (const OutOfMemory&) {
            throw;
        } catch (const Error& e) {
            if (group.rank() == 0) throw;
            mine = e.what();
        }
        const std::vector<std::string> all = group.all_gather(mine + '\n' + host_name());
        const auto word = [](const std::string& text) {
            return std::string_view(text).substr(0, text.rfind('\n'));
        };
        const bool late = group.maximum({Clock::now() > deadline ? 1.0 : 0.0})[0] > 0;
        bool same = true;
        for (std::size_t r = 1; r < all.size(); ++r) {
            if (word(all[r]) == word(all[0])) continue;
            same = false;
            if (late)
                throw DataError(fmt::format(
                    "rank {} on host {} does not see the dataset {} as rank 0 on host {} does, after {:g} s: {}; "
                    "all hosts of a trial need its folder under the same path",
                    r, all[r].substr(all[r].rfind('\n') + 1), folder, all[0].substr(all[0].rfind('\n') + 1),
                    limit_s, word(all[r]).front() == seen ? "it has other contents there" : word(all[r])));
        }
        if (same) return std::move(*store);
        if (mine != word(all[0])) store.reset();
    }
}

}  // namespace gnnbench
