package lang

// networkWords are the errors of URLs, TLS, HTTP versions, proxies and the limits of this machine.
func networkWords() [][2]string {
	return [][2]string{
		{"the URL contains a control character; was it pasted with a line break?", "URL 含有控制字符；粘贴时是否带了换行？"},

		{"its certificate expired on %s", "其证书已于 %s 过期"}, {"its certificate is not valid before %s", "其证书在 %s 之前无效"},
		{"its certificate is for %s, not for %s", "其证书属于 %s，而不是 %s"}, {"its certificate is not trusted: it is signed by itself", "其证书不受信任：自签名"},
		{"the server asks for a certificate of the client", "服务要求客户端证书"},
		{"the server does not accept the client's certificate, or misses one (%s)", "服务不接受客户端的证书，或缺少证书（%s）"},
		{"the server speaks no version of TLS that is safe (1.2 or newer)", "服务不支持安全的 TLS 版本（1.2 或更新）"},
		{"the server speaks only HTTP/2", "服务只支持 HTTP/2"}, {"the server does not speak HTTP/2", "服务不支持 HTTP/2"},
		{"the proxy asks for a user name and a password, or does not accept those that it was given", "代理要求用户名和密码，或不接受所给的用户名和密码"},
		{"the proxy refuses to connect: %s", "代理拒绝连接：%s"}, {"%s (on the way to the proxy)", "%s（在连接代理时）"},
		{"no local port is free for another connection: widen net.ipv4.ip_local_port_range, or lower the rate",
			"没有空闲的本地端口可用于新连接：请扩大 net.ipv4.ip_local_port_range，或降低速率"},
	}
}
