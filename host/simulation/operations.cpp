#include "simulation/operations.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::simulation {
namespace {

/// What a transfer takes of a rank's memory and of a node's network cards, whose capacities these are.
double share(double rate, double capacity) { return std::min(1.0, rate / capacity); }

}  // namespace

Operations::Operations(Engine& engine, std::vector<int> members)
    : engine_(engine), members_(std::move(members)), placement_(placement_of(engine.machine(), members_)) {
    channels_.resize(members_.size());
    for (const int r : members_) ++on_node_[engine.machine().node_of(r)];
    for (const auto& [node, ranks] : on_node_) nodes_.push_back(node);
}

Operations::~Operations() = default;

int Operations::beside(int place) const { return on_node_.at(engine_.machine().node_of(members_[usize(place)])); }

/// All of the group are on one node, and links are modelled.
const Curve* Operations::measured(const char* key) const {
    const auto& measured = engine_.machine().links.measured;
    const auto found = measured.find(key);
    const bool within = placement_.nodes == 1 && engine_.network() == NetworkModel::links;
    return within && found != measured.end() ? &found->second : nullptr;
}

std::shared_ptr<CollectiveOperation> Operations::begin_or_join(const std::shared_ptr<Operations>& self,
                                                               std::uint64_t number, Collective kind, Wait wait,
                                                               std::int64_t total_bytes, int root) {
    std::weak_ptr<CollectiveOperation>& known = collectives_[number];
    std::shared_ptr<CollectiveOperation> operation = known.lock();
    if (!operation)
        known = operation = std::make_shared<CollectiveOperation>(self, number, kind, wait, total_bytes, root);
    if (!operation->same(kind, total_bytes, root))
        throw LogicError(fmt::format("a simulated rank calls {} of {} bytes where others of its group call {}",
                                     to_text(kind), total_bytes, operation->name()));
    return operation;
}

std::string CollectiveOperation::name() const {
    return fmt::format("{} {} of {} bytes{}", to_text(kind_), number_, total_bytes_,
                       root_ >= 0 ? fmt::format(" from rank {}", group_->members()[usize(root_)]) : "");
}

std::string CollectiveOperation::what() const {
    return fmt::format("{} of a group of {} ranks, {} of which have come to it", name(), group_->members().size(),
                       streams_.size());
}

void CollectiveOperation::bring(int place, CollectiveMemory memory) {
    memory_.resize(group_->members().size());
    memory_[usize(place)] = std::move(memory);
}

void CollectiveOperation::arrive(Stream& stream) {
    streams_.push_back(&stream);
    if (streams_.size() < group_->members().size()) return;
    Engine& engine = group_->engine();
    cost_ = cost_of(kind_, wait_, static_cast<double>(total_bytes_), group_->placement(), engine.machine(),
                    engine.network());
    engine.timeline().at(engine.timeline().now_s() + cost_.latency_s, *this, 0);
}

/// Tag 0: the transfer begins; 1: it is complete.
void CollectiveOperation::happens(std::uint64_t tag) {
    if (tag == 0) return transfer();
    const auto self = shared_from_this();  // the streams hold it no longer
    group_->forget(number_);
    if (!memory_.empty()) complete_collective(kind_, root_, memory_);
    for (Stream* s : streams_) s->proceed();
}

/// Rings go through a group in the order of its places.
double CollectiveOperation::memory_rate_of(int place) const {
    const ByPlace& rate = cost_.memory_rate;
    const int k = static_cast<int>(group_->members().size());
    if (root_ < 0) return rate.between;
    if (place == root_) return rate.root;
    const int end = (root_ + (kind_ == Collective::reduce ? 1 : k - 1)) % k;
    return place == end ? rate.end : rate.between;
}

void CollectiveOperation::transfer() {
    Engine& engine = group_->engine();
    std::vector<Demand> demands;
    // What is over before a kernel would notice is not shared.
    if (cost_.transfer_s > cost_.latency_s) {
        const Machine& m = engine.machine();
        for (int place = 0; place < static_cast<int>(group_->members().size()); ++place)
            if (const double rate = memory_rate_of(place); rate > 0)
                demands.push_back(
                    {engine.memory_of(group_->members()[usize(place)]), share(rate, m.device.memory_bandwidth)});
        if (cost_.network_rate > 0)
            for (const int node : group_->nodes())
                demands.push_back({engine.network_of(node), share(cost_.network_rate, m.links.cards())});
    }
    engine.sharing().start(cost_.transfer_s, demands, *this, 1);
}

Exchange::Exchange(std::shared_ptr<Operations> group, int place, const char* measured,
                   std::span<const Message> sends, std::span<const Message> receives,
                   std::vector<std::shared_ptr<Moment>> arrivals, ExchangeMemory memory)
    : group_(std::move(group)),
      place_(place),
      rank_(group_->members()[usize(place)]),
      measured_(measured),
      side_(std::make_shared<SenderSide>()),
      senders_(receives.size()),
      missing_(receives.size()),
      arrivals_(std::move(arrivals)),
      at_end_(std::move(memory.at_end)) {
    for (const Message& m : sends) add(out_, m);
    for (const Message& m : receives) {
        add(in_, m);
        from_.push_back(m.peer);
    }
    side_->out_s = seconds(out_);
    side_->node = group_->engine().machine().node_of(rank_);
    in_s_ = seconds(in_);
    side_->sent = std::move(memory.sent);
    for (void* const to : memory.received) carried_.push_back({.from = nullptr, .to = to});
}

void Exchange::add(Ports& to, const Message& m) const {
    const Machine& machine = group_->engine().machine();
    const int peer = group_->members()[usize(m.peer)];
    const bool same = machine.node_of(peer) == machine.node_of(rank_);
    (same ? to.within : to.between) += m.bytes;
    ++to.messages;
    if (!same || machine.links.pairs.empty()) return;
    to.by_device.resize(usize(machine.devices_per_node));
    to.by_device[usize(machine.place_of(peer))] += static_cast<double>(m.bytes);
}

/// Of messages inside the node. Each pair of devices has its own links; those that none joins share the host's.
double Exchange::within_s(const Ports& p) const {
    const Machine& m = group_->engine().machine();
    if (m.links.pairs.empty()) return static_cast<double>(p.within) / bandwidth_within(m, group_->beside(place_));
    double slowest_s = 0, unlinked = 0;
    for (std::size_t other = 0; other < p.by_device.size(); ++other) {
        if (p.by_device[other] == 0) continue;
        const double rate = bandwidth_between(m, m.place_of(rank_), static_cast<int>(other));
        if (rate > 0)
            slowest_s = std::max(slowest_s, p.by_device[other] / rate);
        else
            unlinked += p.by_device[other];
    }
    return std::max(slowest_s, unlinked / m.device.host_link_bandwidth);
}

/// Each device has its own network card, unless the node has too few, which Sharing shows.
double Exchange::seconds(const Ports& p) const {
    const Machine& m = group_->engine().machine();
    if (const Curve* measured = measured_exchange();
        measured && p.messages > 0 && m.program.message_bandwidth == 0) {
        const auto messages = static_cast<double>(p.messages);
        return messages * measured->seconds(static_cast<double>(p.within) / messages);
    }
    const Program& program = m.program;
    const auto bytes = static_cast<double>(p.within + p.between);
    const double between = static_cast<double>(p.between) / (m.links.nic_bandwidth * m.links.exchange_share),
                 transport_s = program.message_bandwidth > 0 ? bytes / program.message_bandwidth : 0,
                 copies_s = program.host_copies ? bytes / m.device.host_link_bandwidth : 0;
    return std::max({within_s(p), between, transport_s}) + copies_s +
           static_cast<double>(p.messages) * m.links.message_s;
}

void Exchange::post(std::span<const Message> sends, std::span<const Message> receives) {
    const auto same_size = [&](int from, int to, std::int64_t sent, std::int64_t awaited) {
        if (sent != awaited)
            throw LogicError(fmt::format("simulated rank {} sends {} bytes to rank {}, which waits for {}",
                                         group_->members()[usize(from)], sent, group_->members()[usize(to)],
                                         awaited));
    };
    for (std::size_t i = 0; i < sends.size(); ++i) {
        const Message& m = sends[i];
        Operations::Channel& channel = group_->channel(place_, m.peer);
        if (channel.awaited.empty()) {
            channel.sent.push_back({side_, i, m.bytes});
            continue;
        }
        const Operations::Channel::Awaited first = channel.awaited.front();
        channel.awaited.erase(channel.awaited.begin());
        same_size(place_, m.peer, m.bytes, first.bytes);
        if (const auto receiver = first.by.lock()) receiver->matched(first.receive, side_, i);
    }
    for (std::size_t i = 0; i < receives.size(); ++i) {
        const Message& m = receives[i];
        Operations::Channel& channel = group_->channel(m.peer, place_);
        if (channel.sent.empty()) {
            channel.awaited.push_back({weak_from_this(), i, m.bytes});
            continue;
        }
        const Operations::Channel::Sent first = channel.sent.front();
        channel.sent.erase(channel.sent.begin());
        same_size(m.peer, place_, first.bytes, m.bytes);
        matched(i, first.from, first.send);
    }
}

void Exchange::matched(std::size_t receive, const std::shared_ptr<SenderSide>& sender, std::size_t send) {
    if (!carried_.empty()) carried_[receive].from = sender, carried_[receive].send = send;
    if (!sender->arrived) {
        sender->waiting.push_back({weak_from_this(), receive});
        senders_[receive] = sender;
    } else if (arrived()) {
        message_begins(receive, *sender);
    } else {
        senders_[receive] = sender;
    }
}

void Exchange::arrive(Stream& stream) {
    const auto self = shared_from_this();
    stream_ = &stream;
    side_->arrived = true;
    end_s_ = group_->engine().timeline().now_s() + side_->out_s;
    for (std::size_t i = 0; i < senders_.size(); ++i)
        if (senders_[i] && senders_[i]->arrived) message_begins(i, *std::exchange(senders_[i], nullptr));
    for (const SenderSide::Receiver& r : std::exchange(side_->waiting, {}))
        if (const auto receiver = r.exchange.lock(); receiver && receiver->arrived()) {
            receiver->senders_[r.receive] = nullptr;
            receiver->message_begins(r.receive, *side_);
        }
    if (from_.empty()) all_messages_begun();
}

void Exchange::message_begins(std::size_t receive, const SenderSide& sender) {
    Engine& engine = group_->engine();
    const Links& l = engine.machine().links;
    const bool same = sender.node == side_->node;
    const double latency_s = engine.network() == NetworkModel::ring || measured_exchange()
                                 ? 0
                                 : l.base_s + (same ? l.hop_s : l.network_hop_s);
    const double end_s = engine.timeline().now_s() + latency_s + std::max(sender.out_s, in_s_);
    end_s_ = std::max(end_s_, end_s);
    if (!carried_.empty()) carry(receive, end_s);  // before others learn when
    if (!arrivals_.empty()) arrivals_[receive]->become(end_s);
    if (--missing_ == 0) all_messages_begun();
}

/// From here on its end is known, but for what else needs its memory and its node's cards.
void Exchange::all_messages_begun() {
    Engine& engine = group_->engine();
    const double left_s = std::max(0.0, end_s_ - engine.timeline().now_s());
    std::vector<Demand> demands;
    if (left_s > 0 && engine.network() == NetworkModel::links) {
        const Machine& m = engine.machine();
        // Which go through the host's memory are copied to and from there.
        const ByPlace passes = m.program.message_bandwidth > 0
                                   ? ByPlace{.root = 1, .between = 2, .end = 1}
                                   : memory_per_hop_byte(Collective::broadcast, 2, m.links);
        const double moved = passes.root * static_cast<double>(out_.within + out_.between) +
                             passes.end * static_cast<double>(in_.within + in_.between);
        const auto between = static_cast<double>(std::max(out_.between, in_.between));
        demands.push_back({engine.memory_of(rank_), share(moved / left_s, m.device.memory_bandwidth)});
        if (between > 0)
            demands.push_back({engine.network_of(side_->node), share(between / left_s, m.links.cards())});
    }
    engine.sharing().start(left_s, demands, *this, 0);
}

/// Its contents arrive then, whether or not this rank waits for them.
void Exchange::carry(std::size_t receive, double end_s) {
    if (++under_way_ == 1) group_->engine().hold(shared_from_this());
    group_->engine().timeline().at(end_s, *this, 1 + receive);
}

void Exchange::deliver(std::size_t receive) {
    Carried& c = carried_[receive];
    if (const auto from = std::exchange(c.from, nullptr)) from->sent[c.send].take(c.to);
}

void Exchange::end() {
    for (std::size_t i = 0; i < carried_.size(); ++i) deliver(i);  // those whose end is this one but for rounding
    if (at_end_) at_end_();
    for (Payload& p : side_->sent) p.keep();
    stream_->proceed();
}

/// Tag 0: its end; 1 + i: that of the i-th receive's message.
void Exchange::happens(std::uint64_t tag) {
    const auto self = shared_from_this();
    if (tag == 0) return end();
    deliver(tag - 1);
    if (--under_way_ == 0) group_->engine().let_go(this);
}

std::string Exchange::what() const {
    std::string who;
    for (std::size_t i = 0; i < senders_.size(); ++i) {
        if (senders_[i] == nullptr && arrived() && missing_ == 0) continue;
        if (who.size() > 40) {
            who += " …";
            break;
        }
        who += fmt::format(" {}", group_->members()[usize(from_[i])]);
    }
    return fmt::format("exchanges messages and lacks {} of {}, from among ranks{}", missing_, from_.size(), who);
}

}  // namespace gnnbench::simulation
