#include "worker/program_trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/training/parameters.hpp>
#include <gnnbench/usize.hpp>

#include "core/blas_processor.hpp"
#include "data/npy.hpp"
#include "launch/program.hpp"
#include "worker/energy.hpp"
#include "worker/program_line.hpp"
#include "worker/verify/verification.hpp"
#include "worker/workload.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

RawDataset raw(const OwnedDataset& sample) {
    RawDataset d;
    d.name = sample.name;
    d.graph.indptr = sample.indptr;
    d.graph.indices = sample.indices;
    d.graph.weights = sample.weights;
    d.graph.listed_edges = std::ssize(sample.indices);
    d.feature_count = sample.feature_count;
    d.features = sample.features;
    d.classes = sample.classes;
    d.labels = sample.labels;
    d.label_matrix = sample.label_matrix;
    d.splits = 1;
    d.masks = sample.split;
    d.source = "sampled by gnnbench to verify a program";
    return d;
}

void write_weights(const fs::path& folder, const ModelWeights& weights, const std::string& precision) {
    const DType type = precision == "float64" ? DType::f64 : DType::f32;
    fs::create_directories(folder);
    for (const NamedMatrix& m : weights.matrices) write_matrix_npy(folder / (m.name + ".npy"), m.values, type);
}

/// From the job to the program's last line.
class ProgramTrial {
public:
    ProgramTrial(const TrialRequest& request, const fs::path& folder, TrialRecord& record)
        : request_(request),
          folder_(folder),
          record_(record),
          work_(load_workload(request, ProcessGroup::alone())) {
        if (!verifies()) return;
        // No two programs draw the same masks.
        work_.train.dropout = work_.train.input_dropout = work_.model.attention_dropout = 0;
    }

    TrialEnd run() {
        if (verifies() && !request_.cell.scheme.approximation.empty()) return leave_unverified();
        if (std::string why = why_weights_unusable(Adjacency(work_.data.graph, work_.model)); !why.empty()) {
            write_start();
            return {TrialStatus::skipped, std::move(why)};
        }
        if (verifies()) {
            reference_ = reference();
            work_.train.learning_rate = reference_.learning_rate;
        }
        write_job();
        std::vector<std::string> words = request_.cell.scheme.program;
        const auto path = find_program(words.front());
        if (!path) return {TrialStatus::failed, fmt::format("there is no executable program '{}'", words.front())};
        words.front() = *path;
        words.push_back(folder_ / "job.json");
        forget_blas_processor();
        start_ = std::chrono::steady_clock::now();
        const ProgramEnd end =
            read_lines(words, unranked_environment(), [&](std::string_view line) { return take(line); });
        if (end_) return *end_;
        if (end.signal) end_as(end.signal);
        if (end.exit_code)
            return {TrialStatus::failed, fmt::format("the program ended with exit code {} after {} of {} epochs",
                                                     end.exit_code, losses_.size(), epochs())};
        if (std::ssize(losses_) < epochs())
            return {TrialStatus::failed,
                    fmt::format("the program ended after {} of {} epochs", losses_.size(), epochs())};
        if (verifies()) verify();
        return {.status = TrialStatus::ok, .reason = {}, .notes = versions_.versions};
    }

private:
    bool verifies() const { return request_.purpose == Purpose::verify; }
    std::int64_t epochs() const {
        return verifies() ? std::ssize(reference_.loss) : request_.cell.warmup + request_.cell.epochs;
    }

    /// What is not exact by its user's own words has no losses to compare.
    TrialEnd leave_unverified() {
        write_start();
        const VerificationLine line{.status = VerificationStatus::unverified,
                                    .reason = "approximate: " + request_.cell.scheme.approximation};
        record_.write("verification", to_json(line));
        return {};
    }

    /// The cell as it is run: see docs/baselines.md.
    void write_job() {
        Cell cell = request_.cell;
        cell.model = work_.model;
        cell.train = work_.train;
        if (verifies()) {
            cell.epochs = epochs();
            cell.warmup = 0;
        }
        if (work_.sample) {
            write_store(folder_ / "sample", raw(*work_.sample));
            cell.dataset.store = folder_ / "sample";
            cell.dataset.split = 0;
        }
        cell.initial_weights = folder_ / "weights";
        write_weights(cell.initial_weights,
                      work_.initial ? *work_.initial : initial_weights(work_.model, work_.train.seed),
                      cell.precision);
        json job = to_json(cell, JsonFor::worker);
        job["device"] = device_of(cell);
        std::ofstream out(folder_ / "job.json");
        out << job.dump(2) << '\n';
        out.close();
        if (!out) throw EnvironmentError("cannot write a program's job in '" + folder_.string() + "'");
    }

    /// One line; false where it is the last that counts.
    bool take(std::string_view text) {
        ++line_;
        if (text.find_first_not_of(" \t\r") == std::string_view::npos) return true;
        try {
            std::visit([&](const auto& line) { read(line); }, read_program_line(text));
        } catch (const DataError& e) {
            end_ =
                TrialEnd{TrialStatus::failed, fmt::format("line {} of the program's output: {}", line_, e.what())};
        }
        return !end_;
    }

    void read(const ProgramVersions& versions) {
        if (started_) throw DataError("versions come first, once");
        versions_ = versions;
        write_start();
    }

    void read(const ProgramRefusal& refusal) { end_ = TrialEnd{refusal.status, refusal.reason}; }

    void read(const ProgramEpoch& epoch) {
        if (!started_) write_start();
        const auto expected = std::ssize(losses_);
        if (epoch.epoch != expected)
            throw DataError(fmt::format("expected epoch {}; found epoch {}", expected, epoch.epoch));
        if (expected >= epochs())
            throw DataError(fmt::format("found epoch {}, but only {} were asked for", epoch.epoch, epochs()));
        if (expected == 0) write_setup(epoch.wall_s);
        losses_.push_back(epoch.loss);
        if (!verifies()) {
            json rank = {{"wall_s", epoch.wall_s}, {"phases", epoch.phases}, {"volume", json::array()}};
            if (epoch.peak_memory_bytes) rank["peak_memory_bytes"] = *epoch.peak_memory_bytes;
            record_.write("epoch", {{"epoch", epoch.epoch},
                                    {"warmup", epoch.epoch < request_.cell.warmup},
                                    {"loss", finite_or_null(epoch.loss)},
                                    {"ranks", json::array({rank})}});
        }
        if (!std::isfinite(epoch.loss))
            end_ = TrialEnd{TrialStatus::diverged, fmt::format("the loss of epoch {} is not finite", epoch.epoch)};
    }

    void write_start() {
        started_ = true;
        char host[256] = {};
        gethostname(host, sizeof host - 1);
        record_.write("start", {{"ranks", request_.cell.gpus},
                                {"hosts", {host}},
                                {"pids", {getpid()}},
                                {"device", {versions_.device.empty() ? "unknown" : versions_.device}},
                                {"mpi", ""}});
    }

    /// Set-up ended when the first epoch began.
    void write_setup(double first_epoch_s) {
        const double since_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        record_.write("setup", {{"seconds", {{"total", std::max(0.0, since_s - first_epoch_s)}}},
                                {"dataset", dataset_json(work_.data, work_.store.manifest().synthetic)},
                                {"aggregated_input", work_.model.aggregate_input},
                                {"approximation", program_approximation(request_.cell)},
                                {"notes", versions_.versions}});
    }

    ReferenceResult reference() const {
        const PluginCatalog catalog;
        return cached_reference(request_.verify.reference, work_.store.manifest().digest, catalog,
                                {.data = work_.data,
                                 .model = work_.model,
                                 .train = work_.train,
                                 .initial = work_.initial.get(),
                                 .epochs = request_.verify.epochs});
    }

    /// A program only shows its losses; from the second epoch on they depend on its gradients.
    void verify() {
        const Agreement allowed = agreement_for(request_.cell.precision == "float64" ? DType::f64 : DType::f32);
        const double error = largest_loss_error(losses_, reference_.loss);
        const std::string approximation = program_approximation(request_.cell);
        VerificationLine line{
            .status = VerificationStatus::verified,
            .reason = {},
            .loss_error = error,
            .sampled_vertices = work_.sample ? work_.data.graph.vertices() : 0,
            .detail = "by its losses: a program reports neither gradients nor volume",
        };
        if (!(error <= allowed.tolerance)) {
            line.status = VerificationStatus::failed;
            line.reason = fmt::format("differs from the serial reference: loss by {:.2e}; allowed is {:.0e}",
                                      error, allowed.tolerance);
        } else if (!approximation.empty()) {
            line.status = VerificationStatus::unverified;
            line.reason = "agrees without dropout, but " + approximation;
        } else if (!reference_.untame.empty()) {
            line.status = VerificationStatus::unverified;
            line.reason = std::string(ill_conditioned_here) + reference_.untame;
        }
        record_.write("verification", to_json(line));
    }

    [[noreturn]] static void end_as(int signal) {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
        _exit(128 + signal);
    }

    const TrialRequest& request_;
    const fs::path folder_;
    TrialRecord& record_;
    Workload work_;
    std::chrono::steady_clock::time_point start_;
    std::int64_t line_ = 0;
    bool started_ = false;
    ProgramVersions versions_;
    std::vector<double> losses_;
    ReferenceResult reference_;  ///< where it verifies
    std::optional<TrialEnd> end_;
};

}  // namespace

TrialEnd run_program_trial(const TrialRequest& request, const fs::path& folder, TrialRecord& record) {
    TrialEnd end = ProgramTrial(request, folder, record).run();
    if (request.purpose == Purpose::measure)
        end.energy = EnergyMeter::none("a program: it runs its epochs by itself, and no reading separates them");
    return end;
}

}  // namespace gnnbench
