#include "worker/partition_request.hpp"

#include <fstream>

#include <gnnbench/error.hpp>

namespace gnnbench {

using nlohmann::json;

json to_json(const PartitionRequest& r) {
    return {{"store", r.store},   {"partitioner", r.partitioner},
            {"params", r.params}, {"parts", r.parts},
            {"seed", r.seed},     {"output", r.output}};
}

PartitionRequest read_partition_request(const std::string& path) {
    try {
        const json j = json::parse(std::ifstream(path));
        return {.store = j.at("store"),
                .partitioner = j.at("partitioner"),
                .params = j.at("params"),
                .parts = j.at("parts"),
                .seed = j.at("seed"),
                .output = j.at("output")};
    } catch (const json::exception& e) {
        throw EnvironmentError("'" + path + "' is no request of a partition: " + e.what());
    }
}

}  // namespace gnnbench
