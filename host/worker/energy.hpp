#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <gnnbench/process_group.hpp>

#include "energy/nvml.hpp"
#include "energy/processors.hpp"
#include "energy/window.hpp"

namespace gnnbench {

/// One kind of counters, of all hosts that have ranks. The same on all ranks.
struct CountedEnergy {
    std::string reason{};             ///< why nothing is known; empty: `measured` is
    EnergyWindow measured{0, 0, 0};   ///< all measured epochs so far
    std::optional<double> epoch_j{};  ///< of the last window; empty where it is too short, or had several epochs
};

/// What the timed epochs of a trial take of the hosts' processors and of the devices. A counter belongs to a package or a
/// device, whichever ranks and phases use it, so nothing is said of a single rank or phase. The first rank of each host
/// reads, before epochs begin and after they have ended on all ranks. All functions but `to_json` are collective.
class EnergyMeter {
public:
    /// `device`: the UUID of this rank's device; empty: it computes on processors. `why_not`: why the hosts' energy is not
    /// this trial's; empty: it is.
    EnergyMeter(const ProcessGroup& group, const std::string& device, const std::string& why_not);

    /// Whether anything can be read; else the rest does nothing.
    bool reads() const { return host_.energy.reason.empty() || device_.energy.reason.empty(); }
    /// Epochs follow.
    void begin();
    /// `epochs` of them have ended on this rank, of which the first `warmups` are not measured.
    void end(std::int64_t epochs, std::int64_t warmups);

    /// The field `energy` of an epoch's line; null where there is nothing to say. It is of the last window, which had this one
    /// epoch.
    nlohmann::json epoch() const;
    /// The field `energy` of the trial's last line.
    nlohmann::json trial() const;
    /// The same where nothing was measured, for one reason.
    static nlohmann::json none(const std::string& reason);

private:
    /// What this host's counters say now.
    struct Reading {
        std::chrono::steady_clock::time_point at;
        double joules = 0;
    };
    /// Counters of one kind, on the first rank of a host; what is known of them on all.
    template <class Counters>
    struct Kind {
        std::unique_ptr<Counters> counters{};  ///< null on other ranks, and where they cannot be read
        Reading since{}, now{};
        std::string failure{};  ///< of this rank's last reading
        CountedEnergy energy{};
    };
    template <class Counters>
    static void read(Kind<Counters>& kind);
    template <class Counters>
    void agree(Kind<Counters>& kind, const std::string& mine) const;
    template <class Counters>
    void close(Kind<Counters>& kind, std::int64_t epochs, std::int64_t warmups) const;

    const ProcessGroup& group_;
    bool several_hosts_ = false, has_devices_ = false;
    Kind<ProcessorEnergy> host_;
    Kind<DeviceEnergy> device_;
};

}  // namespace gnnbench
