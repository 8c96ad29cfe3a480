#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/event.hpp>

#include "simulation/sharing.hpp"

namespace gnnbench::simulation {

class Stream;

/// A point in virtual time that may not be known yet. Streams and hosts wait for it.
class Moment {
public:
    bool known() const { return known_; }
    double time_s() const { return time_s_; }
    void become(double time_s);
    void resume(Stream& stream) { streams_.push_back(&stream); }
    void wake(Happening& host, std::uint64_t tag) { host_ = &host, tag_ = tag; }

private:
    bool known_ = false;
    double time_s_ = 0;
    std::vector<Stream*> streams_;
    Happening* host_ = nullptr;
    std::uint64_t tag_ = 0;
};

/// An event of a stream or of a message.
class MomentEvent final : public EventState {
public:
    explicit MomentEvent(std::shared_ptr<Moment> moment) : moment_(std::move(moment)) {}
    const std::shared_ptr<Moment>& moment() const { return moment_; }
    void wait_on_host() override;
    bool ready() override { return moment_->known(); }
    bool completed_by_host() const override { return false; }
    bool needs_a_wait() const override { return true; }

private:
    std::shared_ptr<Moment> moment_;
};

/// One rank's part in an operation of several ranks.
class Participation {
public:
    virtual ~Participation() = default;
    /// The stream has come to it, now; it calls Stream::proceed() when this rank's part is over.
    virtual void arrive(Stream& stream) = 0;
    virtual std::string what() const = 0;
};

/// A stream of a device: what it was given runs in order, each item when those before it are over, and not before the
/// host issued it.
class Stream final : public Happening {
public:
    Stream(Timeline& timeline, Sharing& sharing, std::size_t memory)
        : timeline_(timeline), sharing_(sharing), memory_(memory) {}
    Stream(const Stream&) = delete;

    /// What an item does to the contents of memory, once it is over.
    using Action = std::function<void()>;

    void work(double issued_s, double alone_s, double memory_share, Action action = {});
    /// Takes no time. The action comes when all before is over, and before what comes after begins.
    void act(double issued_s, Action action);
    void record(double issued_s, std::shared_ptr<Moment> moment);
    void wait(double issued_s, std::shared_ptr<Moment> moment);
    /// `slot` gets the time at which all before is over; it must stay where it is.
    void mark(double issued_s, double& slot);
    void take_part(double issued_s, std::shared_ptr<Participation> part);

    /// The item that it is at is over, now.
    void proceed();
    std::size_t items() const { return items_.size(); }
    /// What it is at.
    std::string what() const;

private:
    enum class Kind : std::uint8_t { work, act, record, wait, mark, part };
    struct Item {
        Kind kind;
        double issued_s = 0;
        double alone_s = 0, memory_share = 0;
        double* slot = nullptr;
        std::shared_ptr<Moment> moment = nullptr;
        std::shared_ptr<Participation> part = nullptr;
        Action action = {};
    };
    void push(Item item);
    void advance();
    bool begin(Item& item, double time_s);
    void act_at(double time_s, Action action);
    void happens(std::uint64_t tag) override;

    Timeline& timeline_;
    Sharing& sharing_;
    std::size_t memory_;  ///< resource: of its device
    std::deque<Item> items_;
    std::deque<Action> actions_;  ///< whose time has not come, in order
    double free_s_ = 0;           ///< when the last item was over
    bool busy_ = false;           ///< its first item is under way
};

}  // namespace gnnbench::simulation
