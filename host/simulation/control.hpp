#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gnnbench/process_group.hpp>

#include "simulation/engine.hpp"

namespace gnnbench::simulation {

/// One control call of all ranks of a group, and what comes of it.
struct Round {
    std::string call;        ///< "barrier", "broadcast from 3"
    std::vector<bool> came;  ///< by place in the group
    int arrived = 0;
    double latest_s = 0;                      ///< of the hosts that have come
    std::vector<std::string> texts;           ///< by place
    std::vector<double> values;               ///< reduced
    std::vector<std::shared_ptr<void>> made;  ///< what the last to come made, by place
    bool over = false;
};

/// Ranks that exchange control messages. Each call is a round in which all take part; it takes no virtual time, but
/// none goes on before the last has come.
class ControlGroup {
public:
    ControlGroup(Engine& engine, std::vector<int> members)
        : engine_(engine), members_(std::move(members)), round_(fresh()) {}

    /// `contribute` adds what this rank brings; `finish` is called once, by the last to come.
    std::shared_ptr<Round> meet(int place, const std::string& call, const std::function<void(Round&)>& contribute,
                                const std::function<void(Round&)>& finish);

    /// Between places in the group; takes no virtual time either.
    void post(int from, int to, Turns::Key key, Turns::Letter letter);
    Turns::Letter collect(int from, int to, Turns::Key key);

    Engine& engine() const { return engine_; }
    const std::vector<int>& members() const { return members_; }

private:
    struct Address {
        int from = 0, to = 0;
        Turns::Key key;
        auto operator<=>(const Address&) const = default;
    };
    std::shared_ptr<Round> fresh() const;
    std::string missing(const Round& round) const;

    Engine& engine_;
    std::vector<int> members_;  ///< ranks of the simulation
    std::shared_ptr<Round> round_;
    std::map<Address, Turns::Letter> posted_;
    std::set<Address> waiting_;  ///< whose receivers do
};

/// The group as its member at `place` sees it.
ProcessGroup member_of(std::shared_ptr<ControlGroup> group, int place);

}  // namespace gnnbench::simulation
