#include "worker/export.hpp"

#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "data/npy.hpp"

namespace gnnbench {
namespace {

std::string packed(const OwnedRows& mine) {
    std::string bytes(mine.vertices.size() * sizeof(GlobalId) + mine.rows.values.size() * sizeof(double), '\0');
    if (bytes.empty()) return bytes;
    std::memcpy(bytes.data(), mine.vertices.data(), mine.vertices.size() * sizeof(GlobalId));
    std::memcpy(bytes.data() + mine.vertices.size() * sizeof(GlobalId), mine.rows.values.data(),
                mine.rows.values.size() * sizeof(double));
    return bytes;
}

/// Copies one rank's rows to their positions.
void unpack(const std::string& bytes, HostMatrix& all) {
    const std::size_t row_bytes = usize(all.cols) * sizeof(double);
    const std::size_t count = bytes.size() / (sizeof(GlobalId) + row_bytes);
    for (std::size_t i = 0; i < count; ++i) {
        GlobalId v;
        std::memcpy(&v, bytes.data() + i * sizeof v, sizeof v);
        std::memcpy(&all(value(v), 0), bytes.data() + count * sizeof v + i * row_bytes, row_bytes);
    }
}

}  // namespace

void export_results(const std::string& folder, Trainer& trainer, std::int64_t vertices,
                    const ProcessGroup& group) {
    const ModelWeights weights = trainer.weights();
    const OwnedRows mine = trainer.embeddings();
    const auto parts = group.gather(packed(mine));
    if (group.rank() != 0) return;
    const std::filesystem::path to(folder);
    std::error_code error;
    std::filesystem::create_directories(to, error);
    if (error)
        throw EnvironmentError(fmt::format("cannot create the export folder {}: {}", folder, error.message()));
    for (const NamedMatrix& m : weights.matrices) write_matrix_npy(to / (m.name + ".npy"), m.values, DType::f32);
    HostMatrix all(vertices, mine.rows.cols);
    for (const std::string& part : parts) unpack(part, all);
    write_matrix_npy(to / "embeddings.npy", all, DType::f32);
}

}  // namespace gnnbench
