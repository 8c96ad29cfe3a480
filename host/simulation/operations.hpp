#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "simulation/contents.hpp"
#include "simulation/engine.hpp"
#include "simulation/network.hpp"

namespace gnnbench::simulation {

class CollectiveOperation;
class Exchange;
struct SenderSide;

/// What the transports of a group's ranks share: operations under way, matched in the order of each rank's calls.
class Operations {
public:
    Operations(Engine& engine, std::vector<int> members);
    ~Operations();

    /// The `number`-th collective call of a rank: begun by whoever comes to it first. `self` is this group. Throws
    /// LogicError where ranks call different ones.
    std::shared_ptr<CollectiveOperation> begin_or_join(const std::shared_ptr<Operations>& self,
                                                       std::uint64_t number, Collective kind, Wait wait,
                                                       std::int64_t total_bytes, int root);

    Engine& engine() const { return engine_; }
    const std::vector<int>& members() const { return members_; }  ///< ranks of the simulation
    const std::vector<int>& nodes() const { return nodes_; }      ///< that they are on
    const Placement& placement() const { return placement_; }
    /// Ranks of the group on a member's node.
    int beside(int place) const;
    /// Times of operations of two devices, by one key of Links::measured, where they hold for this group's.
    const Curve* measured(const char* key) const;
    void forget(std::uint64_t number) { collectives_.erase(number); }

private:
    friend class Exchange;
    /// Messages between two ranks that one of them has posted and the other has not: few at a time, the first of either
    /// list the oldest.
    struct Channel {
        struct Sent {
            std::shared_ptr<SenderSide> from;
            std::size_t send;
            std::int64_t bytes;
        };
        struct Awaited {
            std::weak_ptr<Exchange> by;
            std::size_t receive;
            std::int64_t bytes;
        };
        std::vector<Sent> sent;
        std::vector<Awaited> awaited;
    };
    /// Between places in the group. Found by sender, then by receiver, because a rank posts all its sends at once.
    Channel& channel(int from, int to) {
        std::vector<Channel>& of_sender = channels_[usize(from)];
        if (of_sender.empty()) of_sender.resize(members_.size());
        return of_sender[usize(to)];
    }

    Engine& engine_;
    std::vector<int> members_, nodes_;
    std::map<int, int> on_node_;
    Placement placement_;
    std::map<std::uint64_t, std::weak_ptr<CollectiveOperation>> collectives_;
    std::vector<std::vector<Channel>> channels_;  ///< by sender, then receiver; a sender's once it is needed
};

/// One operation of all ranks of a group: it begins when the last of them has come to it, and is over for all at once.
class CollectiveOperation final : public Participation,
                                  public Happening,
                                  public std::enable_shared_from_this<CollectiveOperation> {
public:
    CollectiveOperation(std::shared_ptr<Operations> group, std::uint64_t number, Collective kind, Wait wait,
                        std::int64_t total_bytes, int root)
        : group_(std::move(group)),
          number_(number),
          kind_(kind),
          wait_(wait),
          total_bytes_(total_bytes),
          root_(root) {}

    bool same(Collective kind, std::int64_t total_bytes, int root) const {
        return kind == kind_ && total_bytes == total_bytes_ && root == root_;
    }
    std::string name() const;
    /// Of the rank at a place of the group; by all ranks or by none.
    void bring(int place, CollectiveMemory memory);
    void arrive(Stream& stream) override;
    std::string what() const override;

private:
    void happens(std::uint64_t tag) override;
    void transfer();
    double memory_rate_of(int place) const;

    std::shared_ptr<Operations> group_;
    std::uint64_t number_;
    Collective kind_;
    Wait wait_;
    std::int64_t total_bytes_;
    int root_;
    CollectiveCost cost_;
    std::vector<CollectiveMemory> memory_;  ///< by place; empty where it has no contents
    std::vector<Stream*> streams_;          ///< of the ranks that have come
};

/// What receivers know of an exchange that sends to them.
struct SenderSide {
    bool arrived = false;
    double out_s = 0;  ///< that its ports need for all it sends
    int node = 0;
    std::vector<Payload> sent;  ///< by send; empty where memory has no contents
    struct Receiver {
        std::weak_ptr<Exchange> exchange;
        std::size_t receive;
    };
    std::vector<Receiver> waiting;
};

/// One rank's sends and receives, posted together. A message travels when both sides have come to it; a rank's ports
/// carry all its messages at the same time, so each takes as long as the busier of its two ports. What it sends is
/// buffered: no rank waits for its receivers.
class Exchange final : public Participation, public Happening, public std::enable_shared_from_this<Exchange> {
public:
    /// `measured`: under which key of Links::measured.
    Exchange(std::shared_ptr<Operations> group, int place, const char* measured, std::span<const Message> sends,
             std::span<const Message> receives, std::vector<std::shared_ptr<Moment>> arrivals,
             ExchangeMemory memory);
    /// Finds the other side of each message, where it has been posted.
    void post(std::span<const Message> sends, std::span<const Message> receives);

    void arrive(Stream& stream) override;
    std::string what() const override;
    /// The sender of a receive has come to it, now, and so has this rank.
    void message_begins(std::size_t receive, const SenderSide& sender);
    /// The sender of a receive is known, and which of its messages it is.
    void matched(std::size_t receive, const std::shared_ptr<SenderSide>& sender, std::size_t send);
    bool arrived() const { return stream_ != nullptr; }

private:
    struct Ports {
        std::int64_t within = 0, between = 0, messages = 0;  ///< bytes in one direction; to others
        /// Of `within`, by the peer's place in the node; where pairs are known.
        std::vector<double> by_device = {};
    };
    double seconds(const Ports& p) const;
    double within_s(const Ports& p) const;
    const Curve* measured_exchange() const { return group_->measured(measured_); }
    void add(Ports& to, const Message& m) const;
    void all_messages_begun();
    void carry(std::size_t receive, double end_s);
    void deliver(std::size_t receive);
    void end();
    void happens(std::uint64_t tag) override;

    std::shared_ptr<Operations> group_;
    int place_, rank_;
    const char* measured_;
    Ports out_, in_;
    double in_s_ = 0, end_s_ = 0;
    std::shared_ptr<SenderSide> side_;
    std::vector<std::shared_ptr<SenderSide>> senders_;  ///< by receive; those that have not begun
    std::vector<int> from_;                             ///< by receive: its sender's place
    std::size_t missing_ = 0;                           ///< receives that have not begun
    std::vector<std::shared_ptr<Moment>> arrivals_;
    /// What contents need, where there are any.
    struct Carried {
        std::shared_ptr<SenderSide> from;  ///< null: not known, or delivered
        std::size_t send = 0;
        void* to = nullptr;
    };
    std::vector<Carried> carried_;  ///< by receive
    std::function<void()> at_end_;
    std::size_t under_way_ = 0;  ///< messages whose end is scheduled
    Stream* stream_ = nullptr;
};

}  // namespace gnnbench::simulation
