#include "record/claims.hpp"

#include <unistd.h>

#include <optional>

#include <fmt/format.h>

#include "record/replay.hpp"
#include "record/sqlite.hpp"

namespace gnnbench {
namespace {

struct Holder {
    std::string journal, host, since;
    std::int64_t pid;
};

std::optional<Holder> holder_of(sqlite::Connection& c, const TrialKey& k) {
    auto q = c.prepare(
        "SELECT journal, host, claimed, pid FROM claim WHERE cell_digest = ? AND machine = ? "
        "AND purpose = ? AND number = ?",
        "look for a claim");
    q.bind(k.cell_digest, k.machine, k.purpose, k.number);
    if (!q.step()) return std::nullopt;
    Holder h{q.text(0), q.text(1), q.text(2), q.integer(3)};
    q.reset();
    return h;
}

}  // namespace

int conclusive_trials(const Database& database, const TrialKey& k) {
    // A verification applies to every cell with its key, whatever its number.
    const std::string sql = fmt::format(
        "SELECT t.status FROM trial t JOIN cell c ON c.id = t.cell_id JOIN machine m ON m.id = t.machine_id "
        "WHERE {} = ?1 AND m.fingerprint = ?2 AND t.purpose = ?3{}",
        k.purpose == "verify" ? "t.verification_key" : "c.digest",
        k.purpose == "verify" ? "" : " AND t.number = ?4");
    auto q = database.connection().prepare(sql, "count a cell's trials");
    if (k.purpose == "verify")
        q.bind(k.cell_digest, k.machine, k.purpose);
    else
        q.bind(k.cell_digest, k.machine, k.purpose, k.number);
    int n = 0;
    while (q.step()) n += is_conclusive(trial_status(q.text(0)));
    return n;
}

Claim claim_trial(Database& database, const Journal& journal, const TrialKey& k, int seen_conclusive) {
    return claim_trial(database, journal.name(), k, seen_conclusive);
}

Claim claim_trial(Database& database, const std::string& journal, const TrialKey& k, int seen_conclusive) {
    sqlite::Connection& c = database.connection();
    std::vector<std::string> problems;
    for (;;) {
        std::string stale;
        {
            sqlite::Transaction transaction(c);
            if (const auto held = holder_of(c, k); held && held->journal != journal) {
                const DeadJournal other(journal_folder(database.path()) / held->journal);
                if (other.state() == DeadJournal::State::alive && is_job_journal(held->journal))
                    return {ClaimState::held_by_other, fmt::format("a job submitted {}", held->since), problems};
                if (other.state() == DeadJournal::State::alive)
                    return {ClaimState::held_by_other,
                            fmt::format("{}, process {}, since {}", held->host, held->pid, held->since), problems};
                if (other.state() == DeadJournal::State::dead) stale = held->journal;
            }
            if (stale.empty()) {
                if (conclusive_trials(database, k) != seen_conclusive)
                    return {ClaimState::done_by_other, "", problems};
                c.prepare("INSERT OR REPLACE INTO claim VALUES (?,?,?,?,?,?,?,?)", "claim a trial")
                    .run(k.cell_digest, k.machine, k.purpose, k.number, journal, host_name(), ::getpid(),
                         utc_now());
                transaction.commit();
                return {ClaimState::claimed, "", problems};
            }
        }
        // The dead process's measurements must be in the database before its trial counts as missing.
        for (const std::string& problem :
             replay_journal(database, journal_folder(database.path()) / stale).problems)
            problems.push_back(stale + ": " + problem);
    }
}

void release_trial(Database& database, const Journal& journal, const TrialKey& k) {
    database.connection()
        .prepare(
            "DELETE FROM claim WHERE cell_digest = ? AND machine = ? AND purpose = ? AND number = ? AND journal = "
            "?",
            "release a trial")
        .run(k.cell_digest, k.machine, k.purpose, k.number, journal.name());
}

}  // namespace gnnbench
