package findings

import "llmsweep/report/lang"

// limitsWords are the words of the notes of package client/limits.
func limitsWords() lang.Words {
	return lang.Words{
		"limits.ports": lang.Say("the server closes the connection after each answer: at {rate:tenths} requests/s up to {held:whole} local ports are in use or not yet free again, and this machine has {ports:whole} for one server, so connections may fail. Make the server keep connections, lower the rate, or run: sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\" net.ipv4.tcp_tw_reuse=1",
			"服务在每次回答后关闭连接：每秒 {rate:tenths} 个请求时，最多有 {held:whole} 个本地端口在使用中或尚未释放，而本机对同一服务只有 {ports:whole} 个端口，因此可能无法建立连接。请让服务保持连接，或降低速率，或运行：sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\" net.ipv4.tcp_tw_reuse=1"),
	}
}
