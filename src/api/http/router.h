// Which path leads to what, without any HTTP library: handlers see plain structs.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace hodei::api {

struct HttpRequest {
  std::string method;
  std::string path;   // without the query
  std::string query;  // behind the `?`, as it came
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

// Answers a request, once, from any thread. The response itself is made on one of the door's own threads, so that a
// caller with better things to do only says how.
using Respond = std::function<void(std::function<HttpResponse()>)>;
using HttpHandler = std::function<void(const HttpRequest&, Respond)>;

class Router {
 public:
  // HEAD is GET without its body.
  void get(const std::string& path, HttpHandler handler);

  // 404 for a path, 405 for a method that nobody knows.
  void handle(const HttpRequest& request, const Respond& respond) const;

 private:
  std::map<std::string, std::map<std::string, HttpHandler>> handlers_;  // path → method → handler
};

}  // namespace hodei::api
