#pragma once
#include <cstdint>
#include <string>

#include <gnnbench/strategy.hpp>
#include <gnnbench/transport.hpp>

namespace gnnbench {

/// Writes W<l>.npy, b<l>.npy (float32) and embeddings.npy [vertices × classes] (float32, original vertex order).
/// Collective; rank 0 writes. Throws EnvironmentError where it cannot.
void export_results(const std::string& folder, Trainer& trainer, std::int64_t vertices, const ProcessGroup& group);

}  // namespace gnnbench
