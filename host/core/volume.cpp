#include <gnnbench/volume.hpp>

#include <set>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

namespace gnnbench {

Volume& operator+=(Volume& a, const Volume& b) {
    for (const auto& [key, traffic] : b) a[key] += traffic;
    return a;
}

Traffic operator*(const Traffic& t, std::int64_t times) {
    return {t.sent_bytes * times, t.received_bytes * times, t.messages * times};
}

Traffic payload_total(const Volume& v) {
    Traffic total;
    for (const auto& [key, traffic] : v)
        if (key.content == Content::payload) total += traffic;
    return total;
}

namespace {

bool as_stated(const Traffic& stated, const Traffic& counted, Content content, StatedVolume::Means means) {
    if (means != StatedVolume::Means::at_most) return stated == counted;
    return content == Content::metadata ||
           (counted.sent_bytes <= stated.sent_bytes && counted.received_bytes <= stated.received_bytes &&
            counted.messages <= stated.messages);
}

}  // namespace

std::string difference(const StatedVolume& stated, const Volume& counted) {
    std::set<VolumeKey> keys;
    for (const auto* side : {&stated.volume, &counted})
        for (const auto& entry : *side) keys.insert(entry.first);
    const auto of = [](const Volume& v, const VolumeKey& k) { return v.contains(k) ? v.at(k) : Traffic{}; };
    std::string lines;
    for (const VolumeKey& k : keys) {
        const Traffic s = of(stated.volume, k), c = of(counted, k);
        if (as_stated(s, c, k.content, stated.means)) continue;
        lines +=
            fmt::format("{} {}: stated {}{} sent, {} received, {} messages; counted {}, {}, {}\n",
                        comm_op_names[usize(k.operation)], k.content == Content::payload ? "payload" : "metadata",
                        stated.means == StatedVolume::Means::at_most ? "at most " : "", s.sent_bytes,
                        s.received_bytes, s.messages, c.sent_bytes, c.received_bytes, c.messages);
    }
    return lines;
}

namespace counting {

std::int64_t even_block_bytes(std::int64_t elements, std::int64_t element_bytes, int k, int i) {
    return (elements / k + (i < elements % k ? 1 : 0)) * element_bytes;
}

// One rank alone, or no bytes at all: nothing is moved and no message counted.
Traffic broadcast(std::int64_t x, int k, bool is_root) {
    if (k == 1 || x == 0) return {};
    return is_root ? Traffic{(k - 1) * x, 0, 1} : Traffic{0, x, 1};
}

Traffic reduce(std::int64_t x, int k, bool is_root) {
    if (k == 1 || x == 0) return {};
    return is_root ? Traffic{0, (k - 1) * x, 1} : Traffic{x, 0, 1};
}

Traffic all_gather(std::int64_t x, std::int64_t mine, int k) {
    if (k == 1 || x == 0) return {};
    return {(k - 1) * mine, x - mine, 1};
}

Traffic reduce_scatter(std::int64_t x, std::int64_t mine, int k) {
    if (k == 1 || x == 0) return {};
    return {x - mine, (k - 1) * mine, 1};
}

Traffic all_reduce(std::int64_t x, std::int64_t mine, int k) {
    if (k == 1 || x == 0) return {};
    const std::int64_t each_way = x + (k - 2) * mine;
    return {each_way, each_way, 1};
}

Traffic all_to_all(std::span<const std::int64_t> sent, std::span<const std::int64_t> received, int self) {
    Traffic t;
    for (std::size_t j = 0; j < sent.size(); ++j) {
        if (static_cast<int>(j) == self) continue;
        t.sent_bytes += sent[j];
        t.received_bytes += received[j];
        t.messages += sent[j] > 0;
    }
    return t;
}

}  // namespace counting
}  // namespace gnnbench
