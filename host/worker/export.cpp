#include "worker/export.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "data/npy.hpp"
#include "worker/gathered_rows.hpp"

namespace gnnbench {

void export_results(const std::string& folder, Trainer& trainer, std::int64_t vertices,
                    const ProcessGroup& group) {
    const ModelWeights weights = trainer.weights();
    const OwnedRows mine = trainer.embeddings();
    const GatheredRows all = gather_rows(mine, vertices, mine.rows.cols, group);
    if (group.rank() != 0) return;
    const std::filesystem::path to(folder);
    std::error_code error;
    std::filesystem::create_directories(to, error);
    if (error)
        throw EnvironmentError(fmt::format("cannot create the export folder {}: {}", folder, error.message()));
    for (const NamedMatrix& m : weights.matrices) write_matrix_npy(to / (m.name + ".npy"), m.values, DType::f32);
    write_matrix_npy(to / "embeddings.npy", all.rows, DType::f32);
}

}  // namespace gnnbench
