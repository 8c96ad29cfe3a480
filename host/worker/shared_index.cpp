#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>
#include <gnnbench/usize.hpp>

#include "data/file.hpp"
#include "worker/workload.hpp"

namespace gnnbench {
namespace {

constexpr std::size_t id_bytes = sizeof(std::int32_t);

/// What every rank is told first.
struct Header {
    std::int64_t by_id = 0;      ///< whether parts lie by id
    std::int64_t positions = 0;  ///< how many are listed; 0: they are ids
    std::int64_t entries = 0;    ///< that have parts

    std::int64_t numbers() const { return 2 * positions + entries; }
};

Header header_of(const IndexMap& index) {
    return {index.by_id(), std::ssize(index.places().position), std::ssize(index.part_of_entry())};
}

/// The arrays, one after the other.
IndexMap::Places places_in(std::span<const std::byte> bytes, const Header& header,
                           std::shared_ptr<const void> memory) {
    const std::span ids(reinterpret_cast<const std::int32_t*>(bytes.data()), bytes.size() / id_bytes);
    const auto n = usize(header.positions);
    return {ids.first(n), ids.subspan(n, n), std::move(memory), ids.subspan(2 * n)};
}

IndexMap::Places room_for(const Header& header) {
    const auto own = std::make_shared<std::vector<std::int32_t>>(usize(header.numbers()));
    return places_in(std::as_bytes(std::span(*own)), header, own);
}

std::span<const std::byte> bytes_of(std::span<const std::int32_t> ids) { return std::as_bytes(ids); }

/// What the first rank of a host has, in a file that the host's ranks map; it has no name any more when this returns.
/// Without a value where the file cannot be written, or a rank does not see it: containers of one host may each have a /tmp
/// of their own.
std::optional<IndexMap::Places> mapped_places(const IndexMap::Places& first, const Header& header,
                                              const ProcessGroup& host) {
    std::optional<TemporaryFolder> folder;
    std::string name;
    if (host.rank() == 0) try {
            folder.emplace("index");
            OutputFile file(folder->path() / "places");
            file.write(bytes_of(first.position));
            file.write(bytes_of(first.vertex));
            file.write(bytes_of(first.part_of_entry));
            file.close();
            name = (folder->path() / "places").string();
        } catch (const EnvironmentError&) {
            name.clear();  // a full disk: every rank then gets a copy
        }
    name = host.all_gather(name)[0];
    if (name.empty()) return std::nullopt;
    std::shared_ptr<MappedFile> file;
    try {
        file = std::make_shared<MappedFile>(name);
    } catch (const Error&) {
        file.reset();
    }
    const bool seen = file && file->bytes().size() == usize(header.numbers()) * id_bytes;
    if (host.maximum({seen ? 0.0 : 1.0})[0] > 0) return std::nullopt;
    return places_in(file->bytes(), header, file);
}

}  // namespace

IndexMap shared_index(const Partition& partition, const ProcessGroup& group, SetupPart& cost) {
    SetupTimer timer(&cost);
    std::optional<IndexMap> made;
    if (group.rank() == 0) made.emplace(partition);
    std::vector<std::int64_t> offsets(usize(partition.parts) + 1);
    Header header;
    if (made) {
        offsets = made->offsets();
        header = header_of(*made);
    }
    group.broadcast(offsets.data(), offsets.size() * sizeof offsets[0], 0);
    group.broadcast(&header, sizeof header, 0);
    const bool by_id = header.by_id != 0;
    if (header.numbers() == 0) return {std::move(offsets), by_id, {}};

    const ProcessGroup host = group.split_by_host();
    const ProcessGroup firsts = group.split(host.rank() == 0 ? 0 : 1, group.rank());
    IndexMap::Places places;
    if (made) {
        places = made->places();
    } else if (host.rank() == 0) {
        places = room_for(header);
    }
    const auto receive = [&](const ProcessGroup& from) {
        for (const auto& ids : {places.position, places.vertex, places.part_of_entry})
            from.broadcast(const_cast<std::int32_t*>(ids.data()), ids.size_bytes(), 0);
        if (from.rank() != 0) timer.add_bytes(header.numbers() * std::int64_t{id_bytes});
    };
    if (host.rank() == 0) receive(firsts);
    if (host.size() == 1) return {std::move(offsets), by_id, std::move(places)};
    if (std::optional<IndexMap::Places> mapped = mapped_places(places, header, host)) {
        places = std::move(*mapped);
    } else {
        if (host.rank() != 0) places = room_for(header);
        receive(host);
    }
    return {std::move(offsets), by_id, std::move(places)};
}

PartitionQuality quality_of(const GraphView& graph, const IndexMap& index, const ProcessGroup& group) {
    // Nothing is cut, and no rank walks the whole graph to learn that.
    if (index.parts() == 1) return {};
    std::vector<double> sums(4), largest(2);
    for (Part p = group.rank(); p < index.parts(); p += group.size()) {
        const PartQuality q = measure_part(graph, index, p);
        sums[0] += static_cast<double>(q.edge_cut);
        sums[1] += static_cast<double>(q.needed);
        sums[2] += static_cast<double>(q.nonzeros);
        sums[3] += static_cast<double>(q.vertices);
        largest[0] = std::max(largest[0], static_cast<double>(q.vertices));
        largest[1] = std::max(largest[1], static_cast<double>(q.nonzeros));
    }
    sums = group.sum(std::move(sums));
    largest = group.maximum(std::move(largest));
    const auto imbalance = [&](double most, double total) {
        return total == 0 ? 1.0 : most * static_cast<double>(index.parts()) / total;
    };
    return {.edge_cut = static_cast<std::int64_t>(sums[0]),
            .connectivity_minus_one = static_cast<std::int64_t>(sums[1]),
            .vertex_imbalance = imbalance(largest[0], sums[3]),
            .nonzero_imbalance = imbalance(largest[1], sums[2])};
}

}  // namespace gnnbench
