#include "worker/energy.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/journal.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

json to_json(const CountedEnergy& kind, double update_s) {
    std::string why = kind.reason;
    if (why.empty() && kind.measured.windows == 0) why = "no epoch was measured";
    if (why.empty()) why = why_too_coarse(kind.measured, update_s);
    if (!why.empty()) return {{"reason", std::move(why)}};
    return {{"joules", kind.measured.joules}};
}

}  // namespace

EnergyMeter::EnergyMeter(const ProcessGroup& group, const std::string& device, const std::string& why_not)
    : group_(group) {
    const ProcessGroup host = group.split_by_host();
    several_hosts_ = group.maximum({host.size() < group.size() ? 1.0 : 0.0})[0] > 0;
    std::vector<std::string> devices = host.all_gather(device);
    std::erase(devices, "");
    has_devices_ = group.maximum({devices.empty() ? 0.0 : 1.0})[0] > 0;
    std::string host_reason = why_not, device_reason;
    if (host.rank() == 0) {
        if (host_reason.empty()) try {
                EnergyZones found = find_zones(powercap_folder(), on_virtual_machine());
                host_reason = found.reason;
                if (host_reason.empty())
                    host_.counters = std::make_unique<ProcessorEnergy>(std::move(found.zones));
            } catch (const EnvironmentError& e) {
                host_reason = e.what();
            }
        if (!devices.empty()) try {
                device_.counters = std::make_unique<DeviceEnergy>(devices);
            } catch (const EnvironmentError& e) {
                device_reason = e.what();
            }
    }
    agree(host_, host_reason);
    if (has_devices_)
        agree(device_, device_reason);
    else
        device_.energy.reason = "no device: the ranks compute on the hosts' processors";
}

/// What one host cannot read, nobody can add up.
template <class Counters>
void EnergyMeter::agree(Kind<Counters>& kind, const std::string& mine) const {
    const std::string said = mine.empty() || !several_hosts_ ? mine : host_name() + ": " + mine;
    for (const std::string& reason : group_.all_gather(said))
        if (kind.energy.reason.empty()) kind.energy.reason = reason;
    if (!kind.energy.reason.empty()) kind.counters.reset();
}

template <class Counters>
void EnergyMeter::read(Kind<Counters>& kind) {
    if (!kind.counters) return;
    kind.since = kind.now;
    kind.now.at = Clock::now();
    try {
        kind.now.joules = kind.counters->joules();
    } catch (const EnvironmentError& e) {
        kind.failure = e.what();
    }
}

void EnergyMeter::begin() {
    if (!reads()) return;
    read(device_);  // first, because it takes longer
    read(host_);
}

void EnergyMeter::end(std::int64_t epochs, std::int64_t warmups) {
    if (!reads()) return;
    group_.barrier();  // the epochs have ended on all ranks
    read(host_);
    read(device_);
    close(host_, epochs, warmups);
    close(device_, epochs, warmups);
}

template <class Counters>
void EnergyMeter::close(Kind<Counters>& kind, std::int64_t epochs, std::int64_t warmups) const {
    CountedEnergy& energy = kind.energy;
    if (!energy.reason.empty()) return;
    const std::chrono::duration<double> mine = kind.now.at - kind.since.at;
    const std::vector<double> sums =
        group_.sum({kind.now.joules - kind.since.joules, kind.failure.empty() ? 0.0 : 1.0});
    const EnergyWindow window{.seconds = group_.maximum({mine.count()})[0], .joules = sums[0]};
    if (sums[1] > 0) return agree(kind, kind.failure);
    const bool shows_epoch = epochs == 1 && why_too_coarse(window, Counters::update_s).empty();
    energy.epoch_j = shows_epoch ? std::optional(window.joules) : std::nullopt;
    if (warmups == epochs) return;
    if (warmups > 0) {
        energy.reason = "no reading separates warm-up from measured epochs, which follow without a pause";
        kind.counters.reset();
        return;
    }
    energy.measured.seconds += window.seconds;
    energy.measured.joules += window.joules;
    energy.measured.windows += 1;
}

json EnergyMeter::epoch() const {
    json line;
    if (host_.energy.epoch_j) line["host_j"] = *host_.energy.epoch_j;
    if (device_.energy.epoch_j) line["device_j"] = *device_.energy.epoch_j;
    return line;
}

json EnergyMeter::trial() const {
    json host = to_json(host_.energy, ProcessorEnergy::update_s),
         device = to_json(device_.energy, DeviceEnergy::update_s);
    json line;
    if (host.contains("joules") && (!has_devices_ || device.contains("joules")))
        line["joules"] = host["joules"].get<double>() + device.value("joules", 0.0);
    line["host"] = std::move(host);
    line["device"] = std::move(device);
    return line;
}

json EnergyMeter::none(const std::string& reason) {
    return {{"host", {{"reason", reason}}}, {"device", {{"reason", reason}}}};
}

}  // namespace gnnbench
