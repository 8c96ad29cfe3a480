#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "active_passive.hpp"
#include "gossip_gcn.hpp"
#include "requested.hpp"
#include "scheduled.hpp"

namespace gnnbench::test {

enum class Algorithm : std::uint8_t {
    active_passive,  ///< Algorithm 5
    gossip_gcn,      ///< Algorithm 6
    requested,       ///< with partners by request
    scheduled,       ///< with scheduled partners
};
inline constexpr Algorithm all_algorithms[] = {Algorithm::active_passive, Algorithm::gossip_gcn,
                                               Algorithm::requested, Algorithm::scheduled};
std::string name_of(Algorithm algorithm);

/// One averaging, as one of the two saw it.
struct Averaging {
    gossip::Meeting meeting;
    bool in_clean_up = false;
};

/// What the workers of one run did. Worker w writes its own row, and the flags of the items that it took, without any
/// lock: ThreadSanitizer reports an item that is handed out twice.
struct Ledger {
    Ledger(int workers, std::int64_t items)
        : trained(static_cast<std::size_t>(items)),
          averagings(static_cast<std::size_t>(workers)),
          records(static_cast<std::size_t>(workers)) {}
    std::vector<int> trained;                        ///< [items]: how often
    std::vector<std::vector<Averaging>> averagings;  ///< [workers], in order
    std::vector<gossip::WorkerRecord> records;       ///< [workers]
};

/// Training that only keeps the ledger, and checks the order of the protocol's calls.
class LedgerTraining : public gossip::LocalTraining {
public:
    /// `pause` is called wherever real training would take its time.
    LedgerTraining(Ledger& ledger, int worker, std::function<void()> pause)
        : ledger_(ledger), worker_(static_cast<std::size_t>(worker)), pause_(std::move(pause)) {}
    void compute_gradient(std::int64_t item) override;
    void average(const gossip::Meeting& meeting) override;
    void update_weights() override;
    void average_in_clean_up(const gossip::Meeting& meeting) override;

private:
    void expect(bool held, const char* what) const;

    Ledger& ledger_;
    std::size_t worker_;
    std::function<void()> pause_;
    std::int64_t batches_ = 0, updates_ = 0;
    bool cleaned_up_ = false;
};

/// Trains one worker by the algorithm and notes its record.
void run_worker(Algorithm algorithm, const gossip::Settings& settings, const gossip::Worker& worker,
                Ledger& ledger);

/// What is wrong after a run that ended; empty where nothing is. Every item is trained once, averagings of a with b are
/// those of b with a, records say the same, and the shared words are as the algorithm leaves them.
std::string find_mistake(Algorithm algorithm, const gossip::Settings& settings, const Ledger& ledger,
                         const std::vector<std::int64_t>& words);

/// The number of shared words.
int words_of(Algorithm algorithm, int workers);

}  // namespace gnnbench::test
