#pragma once
/// A comparison as `gnnbench run experiments/quickstart.yaml` might leave it.
#include <string>
#include <vector>

#include "record/comparison.hpp"

namespace gnnbench::samples {

inline ComparisonCell compared(const std::string& scheme, int gpus, const std::string& partitioner,
                               std::vector<double> times_s, double sent_bytes,
                               const std::string& dataset = "dcsbm-20000") {
    ComparisonCell c;
    c.dataset = dataset;
    c.partitioner = partitioner;
    c.scheme = c.scheme_name = scheme;
    c.gpus = gpus;
    c.verification.status = VerificationStatus::unverified;
    c.verification.reason = "not tried yet";
    if (times_s.empty()) return c;
    c.status = TrialStatus::ok;
    c.epoch_s = estimate(times_s);
    c.sent_bytes_per_epoch = sent_bytes;
    c.verification.status = VerificationStatus::verified;
    c.verification.reason = "";
    c.synthetic = "graph, features";
    return c;
}

inline ComparisonCell ended(const std::string& scheme, int gpus, const std::string& partitioner,
                            const std::string& status, const std::string& reason) {
    ComparisonCell c = compared(scheme, gpus, partitioner, {}, 0);
    c.status = trial_status(status);
    c.reason = reason;
    return c;
}

/// Speed-ups over serial on one GPU with the same partitioner, as the database would tell them.
inline void over_serial(ComparisonData& d) {
    for (ComparisonCell& c : d.cells)
        for (const ComparisonCell& base : d.cells)
            if (c.epoch_s && base.epoch_s && base.scheme == "serial" && base.partitioner == c.partitioner)
                c.speed_up = {base.epoch_s->median / c.epoch_s->median, true};
}

inline ComparisonData quickstart() {
    ComparisonData d;
    d.experiment = "quickstart";
    d.machine = "AMD EPYC 9R14, 2 cores";
    d.kernels = "cpu";
    d.fewest_threads = 1;
    d.most_threads = 2;
    d.epochs = 20;
    d.warmup = 2;
    for (const std::string p : {"random", "metis"}) {
        const double better = p == "metis" ? 0.9 : 1;
        d.cells.push_back(compared("serial", 1, p, {0.0412 * better, 0.0418 * better, 0.0409 * better}, 0));
        for (const int gpus : {2, 4})
            d.cells.push_back(ended("serial", gpus, p, "skipped",
                                    "serial runs on one device; " + std::to_string(gpus) + " given"));
        for (const std::string s : {"cagnet-1d", "mg-gcn"})
            for (const int gpus : {1, 2, 4}) {
                const double t = (s == "mg-gcn" ? 0.0305 : 0.0402) * better / gpus * (gpus == 4 ? 2.2 : 1.1);
                d.cells.push_back(compared(s, gpus, p, {t, 1.02 * t, 0.99 * t}, 5.12e6 * (gpus - 1)));
                d.cells.back().oversubscribed = gpus == 4;
                d.cells.back().aggregated_input = s == "mg-gcn";
            }
    }
    over_serial(d);
    return d;
}

}  // namespace gnnbench::samples
