#pragma once
#include <map>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

namespace gnnbench {

/// What the ranks of one process have in common, of one problem: the first rank that asks makes it, the others get the
/// same. Ranks that are processes have none, and each makes its own.
class MadeOnce {
public:
    /// `what` names it among things of type T; make() returns a T.
    template <class T, class Make>
    std::shared_ptr<const T> get(const std::string& what, Make&& make) {
        std::shared_ptr<const void>& made = made_[std::string(typeid(T).name()) + ' ' + what];
        if (!made) made = std::make_shared<const T>(make());
        return std::static_pointer_cast<const T>(made);
    }

private:
    std::map<std::string, std::shared_ptr<const void>> made_;
};

/// From `shared`, or made here where nothing is shared.
template <class T, class Make>
std::shared_ptr<const T> made_once(MadeOnce* shared, const std::string& what, Make&& make) {
    if (shared) return shared->get<T>(what, std::forward<Make>(make));
    return std::make_shared<const T>(make());
}

}  // namespace gnnbench
