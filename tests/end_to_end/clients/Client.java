// Java's HttpClient: by default it asks a server without TLS to change to h2c, and one with TLS for h2.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

public class Client {
  static void check(boolean holds, String what) {
    if (holds) return;
    System.err.println(what);
    System.exit(1);
  }

  static void ask(HttpClient client, String url, HttpClient.Version expected, String name) {
    var replies = new ArrayList<CompletableFuture<HttpResponse<byte[]>>>();
    for (int number = 0; number < 30; ++number) {
      byte[] content = new byte[number * 3000];
      Arrays.fill(content, (byte) number);
      var request = HttpRequest.newBuilder(URI.create(url + "/echo"))
          .POST(HttpRequest.BodyPublishers.ofByteArray(content)).build();
      replies.add(client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray()));
    }
    for (int number = 0; number < 30; ++number) {
      var reply = replies.get(number).join();
      check(reply.statusCode() == 200 && reply.body().length == number * 3000 && reply.version() == expected,
          name + ": " + number + " " + reply.version() + " " + reply.statusCode());
    }
    System.out.println(name + " 30 echoes");
  }

  static void talk(HttpClient client, String url) {
    var heard = new CompletableFuture<String>();
    var socket = client.newWebSocketBuilder().buildAsync(URI.create(url), new WebSocket.Listener() {
      public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
        heard.complete(data.toString());
        return null;
      }
    }).join();
    socket.sendText("hello", true).join();
    check(heard.join().equals("hello"), "WebSocket");
    socket.sendClose(1000, "enough").join();
    System.out.println("WebSocket");
  }

  public static void main(String[] arguments) throws Exception {
    System.setProperty("jdk.internal.httpclient.disableHostnameVerification", "true");
    var everybody = new X509ExtendedTrustManager() {
      public void checkClientTrusted(X509Certificate[] c, String a) {}
      public void checkServerTrusted(X509Certificate[] c, String a) {}
      public void checkClientTrusted(X509Certificate[] c, String a, java.net.Socket s) {}
      public void checkServerTrusted(X509Certificate[] c, String a, java.net.Socket s) {}
      public void checkClientTrusted(X509Certificate[] c, String a, javax.net.ssl.SSLEngine e) {}
      public void checkServerTrusted(X509Certificate[] c, String a, javax.net.ssl.SSLEngine e) {}
      public X509Certificate[] getAcceptedIssuers() { return new X509Certificate[0]; }
    };
    var context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {everybody}, null);
    var client = HttpClient.newBuilder().sslContext(context).build();
    ask(client, arguments[0], HttpClient.Version.HTTP_1_1, "Upgrade: h2c");
    ask(client, arguments[1], HttpClient.Version.HTTP_2, "h2 over TLS");
    talk(client, arguments[0].replace("http", "ws") + "/ws");
    System.exit(0);
  }
}
